// Hashes of batches in memory: a run resumes with batches of the same contents only.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "heed/core/tensor.h"

namespace heed::io {
class Sha256;
}
namespace heed::models {
struct ClassifierBatch;
struct ImageBatch;
struct LanguageBatch;
struct MaskedBatch;
struct TaggerBatch;
struct TranslationBatch;
}  // namespace heed::models

namespace heed::train {

// The SHA-256 of numbers and tensors, in the order in which they are added.
class BatchHash {
 public:
  BatchHash();
  ~BatchHash();

  void add(Index number);
  void add(std::span<const std::byte> bytes);
  void add(const Tensor& x);  // its shape and its values
  std::string hex_digest() const;

 private:
  std::unique_ptr<io::Sha256> hash_;
};

// Adds everything in a batch to the hash. Batches of other types have such a function in their own
// namespace.
void hash_batch(BatchHash& hash, const models::TranslationBatch& batch);
void hash_batch(BatchHash& hash, const models::LanguageBatch& batch);
void hash_batch(BatchHash& hash, const models::MaskedBatch& batch);
void hash_batch(BatchHash& hash, const models::ClassifierBatch& batch);
void hash_batch(BatchHash& hash, const models::ImageBatch& batch);
void hash_batch(BatchHash& hash, const models::TaggerBatch& batch);

}  // namespace heed::train
