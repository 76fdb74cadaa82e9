#include "heed/train/translation_batches.h"

namespace heed::train {

models::TranslationBatch make_batch(const data::TranslationCorpus& corpus,
                                    std::span<const Index> pairs) {
  models::TranslationBatch batch;
  std::vector<std::span<const int>> sources, target_inputs;
  for (const Index pair : pairs) {
    const std::span<const int> target = corpus.target(pair);
    sources.push_back(corpus.source(pair));
    target_inputs.push_back(target.first(target.size() - 1));
    batch.target_output.insert(batch.target_output.end(), target.begin(), target.end());
  }
  batch.source = models::pack(sources);
  batch.target_input = models::pack(target_inputs, {.prepend = text::Tokenizer::end});
  return batch;
}

}  // namespace heed::train
