// Hashes of batches in memory: a run resumes with batches of the same contents only.
#pragma once

#include "heed/io/sha256.h"
#include "heed/models/classifier.h"
#include "heed/models/image_classifier.h"
#include "heed/models/language_model.h"
#include "heed/models/masked_model.h"
#include "heed/models/translation_model.h"

namespace heed::train {

// Adds all numbers of a batch to the hash.
void hash_batch(io::Sha256& hash, const models::TranslationBatch& batch);
void hash_batch(io::Sha256& hash, const models::LanguageBatch& batch);
void hash_batch(io::Sha256& hash, const models::MaskedBatch& batch);
void hash_batch(io::Sha256& hash, const models::ClassifierBatch& batch);
void hash_batch(io::Sha256& hash, const models::ImageBatch& batch);

// The shape and the values of a tensor, for batches of other types.
void hash_tensor(io::Sha256& hash, const Tensor& x);

}  // namespace heed::train
