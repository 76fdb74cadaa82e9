#include "heed/train/batch_hash.h"

#include <vector>

#include "heed/io/sha256.h"
#include "heed/models/classifier.h"
#include "heed/models/image_classifier.h"
#include "heed/models/language_model.h"
#include "heed/models/masked_model.h"
#include "heed/models/tagger.h"
#include "heed/models/translation_model.h"

namespace heed::train {
namespace {

// The size comes first: numbers that move from one list to the next make another hash.
template <typename Value>
void hash_list(BatchHash& hash, std::span<const Value> values) {
  hash.add(std::ssize(values));
  hash.add(std::as_bytes(values));
}
template <typename Value>
void hash_list(BatchHash& hash, const std::vector<Value>& values) {
  hash_list(hash, std::span<const Value>(values));
}

void hash_ids(BatchHash& hash, const models::PackedIds& packed) {
  hash_list(hash, packed.ids);
  hash_list(hash, std::span<const Span>(packed.spans.begin(), packed.spans.end()));
}

}  // namespace

BatchHash::BatchHash() : hash_(std::make_unique<io::Sha256>()) {}
BatchHash::~BatchHash() = default;

void BatchHash::add(Index number) { hash_->update(std::to_string(number) + '\n'); }
void BatchHash::add(std::span<const std::byte> bytes) { hash_->update(bytes); }
void BatchHash::add(const Tensor& x) {
  for (int axis = 0; axis < x.rank(); ++axis) add(x.dim(axis));
  hash_list(*this, std::span<const float>(x.values()));
}
std::string BatchHash::hex_digest() const { return hash_->hex_digest(); }

void hash_batch(BatchHash& hash, const models::TranslationBatch& batch) {
  hash_ids(hash, batch.source);
  hash_ids(hash, batch.target_input);
  hash_list(hash, batch.target_output);
  hash_list(hash, batch.links);
}

void hash_batch(BatchHash& hash, const models::LanguageBatch& batch) {
  hash_ids(hash, batch.input);
  hash_list(hash, batch.next);
  if (!batch.places.empty()) hash_list(hash, batch.places);  // older runs have none
}

void hash_batch(BatchHash& hash, const models::MaskedBatch& batch) {
  hash_ids(hash, batch.input);
  hash_list(hash, batch.places);
  hash_list(hash, batch.hidden);
}

void hash_batch(BatchHash& hash, const models::ClassifierBatch& batch) {
  hash_ids(hash, batch.input);
  hash_list(hash, batch.classes);
  if (batch.targets.is_defined()) hash.add(batch.targets);
}

void hash_batch(BatchHash& hash, const models::ImageBatch& batch) {
  hash.add(batch.patches);
  hash_list(hash, batch.classes);
}

void hash_batch(BatchHash& hash, const models::TaggerBatch& batch) {
  hash_ids(hash, batch.input);
  hash_list(hash, batch.places);
  hash_list(hash, batch.tags);
}

}  // namespace heed::train
