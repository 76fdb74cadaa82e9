#include "heed/infer/word_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "heed/base/error.h"
#include "heed/infer/alignment.h"
#include "heed/text/lines.h"
#include "heed/text/words.h"

namespace heed::infer {
namespace {

bool is_punctuation(const std::string& piece) {
  return std::ranges::all_of(
      piece, [](char c) { return std::string_view(".,;:!?").find(c) != std::string_view::npos; });
}

// As text::words_of, but with punctuation apart.
text::Words words_and_punctuation(std::span<const int> ids, const text::Tokenizer& tokenizer) {
  const std::vector<Index> numbers = text::words_of_pieces(ids, tokenizer);
  const auto is_same = [&](std::size_t a, std::size_t b) {
    return numbers[a] == numbers[b] &&
           is_punctuation(tokenizer.piece(ids[a])) == is_punctuation(tokenizer.piece(ids[b]));
  };
  text::Words words;
  for (std::size_t begin = 0, end = 0; begin < ids.size(); begin = end) {
    for (; end < ids.size() && is_same(begin, end); ++end) {
      words.word_of_piece.push_back(std::ssize(words.texts));
    }
    words.texts.emplace_back(text::trim(tokenizer.decode(ids.subspan(begin, end - begin))));
  }
  return words;
}

bool is_same_word(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

// The number of the first piece of a word.
Index first_piece_of(std::string_view word, const text::Words& words) {
  const auto match = std::ranges::find_if(
      words.texts, [&](const std::string& text) { return is_same_word(text, word); });
  check(match != words.texts.end(), "attention: expected the word ", word,
        " in the translation, found none");
  const Index number = match - words.texts.begin();
  return std::ranges::find(words.word_of_piece, number) - words.word_of_piece.begin();
}

}  // namespace

WordAttention attention_predicting(const models::TranslationModel& model,
                                   const text::Tokenizer& tokenizer, const std::string& source,
                                   const std::string& target, std::string_view word) {
  const std::vector<int> source_ids = tokenizer.encode(source);
  const std::vector<int> target_ids = tokenizer.encode(target);
  // The decoder starts with the end token, so position i predicts piece i.
  const Index query = first_piece_of(word, words_and_punctuation(target_ids, tokenizer));
  text::Words words = words_and_punctuation(source_ids, tokenizer);
  words.word_of_piece.push_back(std::ssize(words.texts));
  words.texts.emplace_back("(end)");

  const Tensor weights =  // [layers * H, target + 1, source + 1]
      cross_attention_weights(model, std::span(&source_ids, 1), std::span(&target_ids, 1), 0)[0];
  const Index num_heads = weights.dim(0) / model.config().decoder_layers;
  WordAttention result{.words = std::move(words.texts), .heads = {}, .weights = {}};
  result.weights.assign(result.words.size(), std::vector<float>(weights.dim(0), 0.0f));
  for (Index head = 0; head < weights.dim(0); ++head) {
    const float* row = weights.data() + (head * weights.dim(1) + query) * weights.dim(2);
    result.heads.push_back(fmt::format("{}.{}", head / num_heads + 1, head % num_heads + 1));
    for (Index i = 0; i < weights.dim(2); ++i) {
      result.weights[words.word_of_piece[i]][head] += row[i];
    }
  }
  return result;
}

std::vector<bool> maxima_on(const WordAttention& attention, std::string_view word) {
  std::vector<bool> is_on;
  for (std::size_t head = 0; head < attention.heads.size(); ++head) {
    const auto largest = std::ranges::max_element(
        attention.weights, {}, [&](const std::vector<float>& row) { return row[head]; });
    is_on.push_back(is_same_word(attention.words[largest - attention.weights.begin()], word));
  }
  return is_on;
}

MeasuredHead measure_best_head(const std::vector<std::vector<bool>>& hits) {
  check(hits.size() >= 2, "heads: expected at least 2 sentences, found ", hits.size());
  const std::size_t half = hits.size() / 2;
  const auto share = [&](std::size_t head, std::size_t begin, std::size_t end) {
    Index count = 0;
    for (std::size_t i = begin; i < end; ++i) count += hits[i][head] ? 1 : 0;
    return static_cast<double>(count) / static_cast<double>(end - begin);
  };
  std::size_t best = 0;
  for (std::size_t head = 1; head < hits[0].size(); ++head) {
    if (share(head, 0, half) > share(best, 0, half)) best = head;
  }
  return {best, share(best, half, hits.size())};
}

}  // namespace heed::infer
