#include "heed/infer/word_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/infer/attention_watcher.h"
#include "heed/text/words.h"

namespace heed::infer {

WordAttention encoder_attention_from(const models::TranslationModel& model,
                                     const text::Tokenizer& tokenizer, const std::string& sentence,
                                     std::string_view word) {
  std::vector<int> ids = tokenizer.encode(sentence);
  text::Words words = text::words_of(ids, tokenizer);
  const Index number = std::ranges::find(words.texts, word) - words.texts.begin();
  check(number < std::ssize(words.texts), "attention: expected the word ", word,
        " in the sentence, found none");
  const Index query =  // the last piece of the word
      std::ranges::upper_bound(words.word_of_piece, number) - words.word_of_piece.begin() - 1;

  ids.push_back(text::Tokenizer::end);
  words.word_of_piece.push_back(std::ssize(words.texts));
  words.texts.push_back("(end)");
  const auto length = std::ssize(ids);
  const Index num_layers = model.config().encoder_layers;

  AttentionWatcher watcher("encoder", "self_attention", {0, num_layers});
  const NoGrad no_grad;
  auto context = nn::ForwardContext::inference(&watcher);
  model.encode({ids, Spans::single(length)}, context);

  const Tensor weights = watcher.weights(0);  // [layers * H, length, length]
  WordAttention result{.words = std::move(words.texts), .heads = {}, .weights = {}};
  const Index num_heads = weights.dim(0) / num_layers;
  result.weights.assign(result.words.size(), std::vector<float>(weights.dim(0), 0.0f));
  for (Index head = 0; head < weights.dim(0); ++head) {
    const float* row = weights.data() + (head * length + query) * length;
    result.heads.push_back(fmt::format("{}.{}", head / num_heads + 1, head % num_heads + 1));
    for (Index i = 0; i < length; ++i) result.weights[words.word_of_piece[i]][head] += row[i];
  }
  return result;
}

}  // namespace heed::infer
