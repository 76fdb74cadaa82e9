#include "heed/cli/word_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>

#include "heed/base/error.h"
#include "heed/nn/forward_context.h"

namespace heed::cli {
namespace {

constexpr std::string_view word_start = "▁";  // how SentencePiece writes a space

// Keeps the views of all layers by name.
class LayerWatcher : public nn::Watcher {
 public:
  ops::AttentionView* watch(std::string_view name) override { return &views_[std::string(name)]; }
  const ops::AttentionView& view(const std::string& name) const { return views_.at(name); }

 private:
  std::map<std::string, ops::AttentionView> views_;
};

// The words of a sentence and, for every piece, which word it belongs to.
struct Words {
  std::vector<std::string> words;
  std::vector<std::size_t> word_of_piece;
};

Words words_of(const std::vector<int>& ids, const text::Tokenizer& tokenizer) {
  Words result;
  for (const int id : ids) {
    std::string piece = id == text::Tokenizer::end ? "(end)" : tokenizer.piece(id);
    const bool is_start = piece.starts_with(word_start);
    if (is_start) piece.erase(0, word_start.size());
    if (is_start || id == text::Tokenizer::end || result.words.empty()) {
      result.words.push_back(piece);
    } else {
      result.words.back() += piece;
    }
    result.word_of_piece.push_back(result.words.size() - 1);
  }
  return result;
}

Index last_piece_of(const Words& words, std::string_view word) {
  const auto found = std::ranges::find(words.words, word);
  check(found != words.words.end(), "attention: expected the word ", word,
        " in the sentence, found none");
  const auto number = static_cast<std::size_t>(found - words.words.begin());
  return static_cast<Index>(std::ranges::upper_bound(words.word_of_piece, number) -
                            words.word_of_piece.begin()) -
         1;
}

}  // namespace

WordAttention encoder_attention_from(const models::TranslationModel& model,
                                     const text::Tokenizer& tokenizer, const std::string& sentence,
                                     std::string_view word) {
  std::vector<int> ids = tokenizer.encode(sentence);
  ids.push_back(text::Tokenizer::end);
  const auto length = static_cast<Index>(ids.size());
  const Words words = words_of(ids, tokenizer);
  const Index from = last_piece_of(words, word);

  LayerWatcher watcher;
  const NoGrad no_grad;
  auto context = nn::ForwardContext::inference(&watcher);
  model.encode({ids, Spans::single(length)}, context);

  WordAttention result{words.words, {}, {}};
  result.weights.resize(words.words.size());
  for (Index layer = 0; layer < model.config().encoder_layers; ++layer) {
    const Tensor& weights =  // [H, length, length]
        watcher.view(fmt::format("encoder.{}.self_attention", layer)).weights.at(0);
    for (Index head = 0; head < weights.dim(0); ++head) {
      const float* row = weights.data() + (head * length + from) * length;
      result.heads.push_back(fmt::format("{}.{}", layer + 1, head + 1));
      for (auto& of_word : result.weights) of_word.push_back(0);
      for (Index i = 0; i < length; ++i) result.weights[words.word_of_piece[i]].back() += row[i];
    }
  }
  return result;
}

void print_table(std::ostream& out, const WordAttention& attention) {
  std::size_t width = 0;
  for (const std::string& word : attention.words) width = std::max(width, word.size());
  out << fmt::format("  {:<{}}", "", width);
  for (const std::string& head : attention.heads) out << fmt::format("  {:>4}", head);
  out << '\n';
  for (std::size_t i = 0; i < attention.words.size(); ++i) {
    out << fmt::format("  {:<{}}", attention.words[i], width);
    for (const float weight : attention.weights[i]) out << fmt::format("  {:.2f}", weight);
    out << '\n';
  }
}

}  // namespace heed::cli
