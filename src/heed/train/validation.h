// How good a model is on sentences that it does not train on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/data/translation_corpus.h"
#include "heed/metrics/bleu.h"
#include "heed/models/translation_model.h"
#include "heed/text/tokenizer.h"
#include "heed/train/training_task.h"

namespace heed::train {

// Held-out pairs: their text for BLEU, their ids for the loss.
struct ValidationData {
  std::vector<std::string> source;
  std::vector<std::string> target;
  data::TranslationCorpus corpus;
};

// The mean of -log p over all target tokens. Does not depend on the number of threads.
std::optional<double> validation_loss(const models::TranslationModel& model,
                                      const data::TranslationCorpus& corpus, Index batch_tokens,
                                      const ShouldStop& should_stop);

// Greedy translations, one for each line.
std::optional<std::vector<std::string>> validation_translations(
    const models::TranslationModel& model, const text::Tokenizer& tokenizer,
    const std::vector<std::string>& lines, const ShouldStop& should_stop);

}  // namespace heed::train
