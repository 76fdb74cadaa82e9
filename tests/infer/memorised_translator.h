// A small model that has learned to translate a small language, word by word, by heart.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/infer/packing.h"
#include "heed/infer/translator.h"
#include "heed/models/model_folder.h"
#include "heed/models/translation_model.h"
#include "heed/train/optimizer.h"

namespace heed::infer {

// All sentences of one to three words, and their translations.
struct WordByWordCorpus {
  std::vector<std::string> sources, targets;

  WordByWordCorpus() { extend("", "", 3); }

 private:
  void extend(const std::string& source, const std::string& target, int words_left) {
    constexpr std::pair<const char*, const char*> words[] = {
        {"one", "eins"}, {"two", "zwei"}, {"three", "drei"}, {"four", "vier"}};
    if (words_left == 0) return;
    for (const auto& [from, to] : words) {
      sources.push_back(source + from);
      targets.push_back(target + to);
      extend(source + from + ' ', target + to + ' ', words_left - 1);
    }
  }
};

inline models::TranslationModelFolder train_word_by_word() {
  const WordByWordCorpus corpus;
  const auto& [sources, targets] = corpus;
  std::vector<std::string> lines;
  lines = sources;
  lines.insert(lines.end(), targets.begin(), targets.end());
  text::Tokenizer tokenizer =
      text::Tokenizer::train(lines, {.vocabulary = 40, .subwords = text::Subwords::word});

  models::TransformerConfig config;
  config.vocabulary = tokenizer.size();
  config.encoder_layers = config.decoder_layers = 1;
  config.model_dim = 32;
  config.feed_forward_dim = 64;
  config.num_heads = 2;
  config.dropout = config.label_smoothing = 0;
  models::TranslationModel model(config, 1);
  std::vector<std::vector<int>> source_ids, target_ids;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    source_ids.push_back(tokenizer.encode(sources[i]));
    target_ids.push_back(tokenizer.encode(targets[i]));
  }
  const models::TranslationBatch batch{pack_sources(source_ids), pack_targets(target_ids),
                                       pack_sources(target_ids).ids};
  const int threads = num_threads();
  set_num_threads(1);  // too small for more
  train::Optimizer optimizer(nn::named_parameters(model), {});
  for (int update = 1; update <= 160; ++update) {
    auto context = nn::ForwardContext::training(1, update);
    backward(model.loss(batch, context).loss);
    optimizer.step(5e-3 * std::min(1.0, update / 20.0), 1.0 / batch.num_target_tokens());
    optimizer.clear_gradients();
  }
  set_num_threads(threads);
  return {model, tokenizer, {}};
}

// Trained once in a process.
inline const models::TranslationModelFolder& word_by_word_model() {
  static const models::TranslationModelFolder model = train_word_by_word();
  return model;
}

}  // namespace heed::infer
