#include "heed/train/translation_batches.h"

namespace heed::train {

models::TranslationBatch make_batch(const data::TranslationCorpus& corpus,
                                    std::span<const Index> pairs) {
  models::TranslationBatch batch;
  std::vector<Index> source_lengths, target_lengths;
  for (const Index pair : pairs) {
    const auto source = corpus.source(pair);
    const auto target = corpus.target(pair);
    batch.source.ids.insert(batch.source.ids.end(), source.begin(), source.end());
    batch.target_input.ids.push_back(target.back());
    batch.target_input.ids.insert(batch.target_input.ids.end(), target.begin(), target.end() - 1);
    batch.target_output.insert(batch.target_output.end(), target.begin(), target.end());
    source_lengths.push_back(static_cast<Index>(source.size()));
    target_lengths.push_back(static_cast<Index>(target.size()));
  }
  batch.source.spans = Spans::of_lengths(source_lengths);
  batch.target_input.spans = Spans::of_lengths(target_lengths);
  return batch;
}

}  // namespace heed::train
