// A small language model that knows one rhyme by heart.
#pragma once

#include <algorithm>
#include <string>

#include "heed/base/parallel.h"
#include "heed/data/text_windows.h"
#include "heed/models/language_model.h"
#include "heed/models/model_folder.h"
#include "heed/train/optimizer.h"

namespace heed::infer {

inline const std::vector<std::string>& rhyme() {
  static const std::vector<std::string> lines{"the bat sat in a cave", "the cat sat on a mat",
                                              "über die straße ging er"};
  return lines;
}

inline models::LanguageModelFolder memorise_rhyme() {
  const text::Tokenizer tokenizer = text::Tokenizer::train(
      rhyme(), {.subwords = text::Subwords::character, .is_running_text = true});
  models::TransformerConfig config;
  config.vocabulary = tokenizer.size();
  config.kind = models::ModelKind::language;
  config.encoder_layers = 0;
  config.decoder_layers = 2;
  config.model_dim = 32;
  config.feed_forward_dim = 64;
  config.num_heads = 2;
  config.max_positions = 24;
  config.norm_place = models::NormPlace::before;
  config.dropout = config.label_smoothing = 0;
  models::LanguageModel model(config, 1);

  std::vector<std::string> lines;  // round and round
  for (int i = 0; i < 12; ++i) lines.insert(lines.end(), rhyme().begin(), rhyme().end());
  const data::TextWindows text(data::encode_text(lines, tokenizer), config.max_positions);
  const int threads = num_threads();
  set_num_threads(1);  // too small for more
  train::Optimizer optimizer(nn::named_parameters(model), {});
  for (int update = 1; update <= 150; ++update) {
    models::LanguageBatch batch;
    for (Index window = 0; window < text.size(); ++window) {
      const Index begin = text.begin_of(window, 1, update);
      const auto input = text.input(begin), next = text.next(begin);
      batch.input.ids.insert(batch.input.ids.end(), input.begin(), input.end());
      batch.next.insert(batch.next.end(), next.begin(), next.end());
    }
    batch.input.spans =
        Spans::of_lengths(std::vector<Index>(static_cast<std::size_t>(text.size()), text.length()));
    auto context = nn::ForwardContext::training(1, static_cast<std::uint64_t>(update));
    backward(model.loss(batch, context).loss);
    optimizer.step(5e-3 * std::min(1.0, update / 20.0),
                   1.0 / static_cast<double>(batch.next.size()));
    optimizer.clear_gradients();
  }
  set_num_threads(threads);
  return {model, tokenizer};
}

// Trained once in a process.
inline const models::LanguageModelFolder& rhyme_model() {
  static const models::LanguageModelFolder model = memorise_rhyme();
  return model;
}

}  // namespace heed::infer
