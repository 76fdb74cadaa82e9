#include "heed/train/batch_hash.h"

#include <span>
#include <string>
#include <vector>

namespace heed::train {
namespace {

// The size comes first: numbers that move from one list to the next make another hash.
template <typename Value>
void hash_list(io::Sha256& hash, std::span<const Value> values) {
  hash.update(std::to_string(values.size()) + '\n');
  hash.update(std::as_bytes(values));
}
template <typename Value>
void hash_list(io::Sha256& hash, const std::vector<Value>& values) {
  hash_list(hash, std::span<const Value>(values));
}

void hash_ids(io::Sha256& hash, const models::PackedIds& packed) {
  hash_list(hash, packed.ids);
  hash_list(hash, std::span<const Span>(packed.spans.begin(), packed.spans.end()));
}

}  // namespace

void hash_batch(io::Sha256& hash, const models::TranslationBatch& batch) {
  hash_ids(hash, batch.source);
  hash_ids(hash, batch.target_input);
  hash_list(hash, batch.target_output);
  hash_list(hash, batch.links);
}

void hash_batch(io::Sha256& hash, const models::LanguageBatch& batch) {
  hash_ids(hash, batch.input);
  hash_list(hash, batch.next);
}

void hash_batch(io::Sha256& hash, const models::MaskedBatch& batch) {
  hash_ids(hash, batch.input);
  hash_list(hash, batch.places);
  hash_list(hash, batch.hidden);
}

void hash_batch(io::Sha256& hash, const models::ClassifierBatch& batch) {
  hash_ids(hash, batch.input);
  hash_list(hash, batch.classes);
}

void hash_batch(io::Sha256& hash, const models::ImageBatch& batch) {
  hash_tensor(hash, batch.patches);
  hash_list(hash, batch.classes);
}

void hash_tensor(io::Sha256& hash, const Tensor& x) {
  for (int axis = 0; axis < x.rank(); ++axis) hash.update(std::to_string(x.dim(axis)) + ' ');
  hash_list(hash, x.values());
}

}  // namespace heed::train
