#include "heed/train/model_task.h"

#include "heed/models/classifier.h"
#include "heed/models/image_classifier.h"
#include "heed/models/language_model.h"
#include "heed/models/masked_model.h"
#include "heed/models/tagger.h"
#include "heed/models/translation_model.h"

namespace heed::train {

BatchSize batch_size(const models::TranslationBatch& batch) {
  return {batch.num_target_tokens(), std::ssize(batch.source.ids)};
}

BatchSize batch_size(const models::LanguageBatch& batch) {
  const bool has_prompts = !batch.places.empty();
  return {std::ssize(batch.next), has_prompts ? std::ssize(batch.input.ids) : 0};
}

BatchSize batch_size(const models::MaskedBatch& batch) {
  return {batch.num_hidden(), std::ssize(batch.input.ids)};
}

BatchSize batch_size(const models::ClassifierBatch& batch) {
  return {batch.num_lines(), std::ssize(batch.input.ids)};
}

BatchSize batch_size(const models::ImageBatch& batch) {
  return {batch.num_images(), batch.patches.dim(0)};
}

BatchSize batch_size(const models::TaggerBatch& batch) {
  return {batch.num_words(), std::ssize(batch.input.ids)};
}

}  // namespace heed::train
