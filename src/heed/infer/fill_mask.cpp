#include "heed/infer/fill_mask.h"

#include <cmath>
#include <utility>

#include "heed/base/error.h"
#include "heed/infer/line_batches.h"
#include "heed/infer/top_tokens.h"
#include "heed/models/masked_model.h"
#include "heed/models/model_folder.h"
#include "heed/ops/embedding.h"
#include "heed/text/masked_text.h"
#include "heed/text/text_stream.h"

namespace heed::infer {
namespace {

constexpr std::string_view visible_space = "\xe2\x96\x81";  // U+2581

// Can a piece replace a mask? Where spaces are pieces of their own, all can.
bool is_candidate(const text::Tokenizer& tokenizer, int id, bool starts_word) {
  if (tokenizer.is_special(id) || id == tokenizer.tokens().unknown || id == tokenizer.mask()) {
    return false;
  }
  const std::string piece = tokenizer.piece(id);
  if (piece.empty() || piece == visible_space) return false;
  if (tokenizer.subwords() == text::Subwords::character) return true;
  return piece.starts_with(visible_space) == starts_word;
}

std::vector<int> excluded_tokens(const text::Tokenizer& tokenizer, bool starts_word) {
  std::vector<int> excluded;
  for (int id = 0; id < tokenizer.size(); ++id) {
    if (!is_candidate(tokenizer, id, starts_word)) excluded.push_back(id);
  }
  return excluded;
}

}  // namespace

FillMask FillMask::load(const std::string& folder) {
  models::MaskedModelFolder loaded = models::load_model_folder<models::MaskedModel>(folder);
  return {models::pack(loaded.model), std::move(loaded.tokenizer)};
}

FillMask::FillMask(models::MaskedModel model, text::Tokenizer tokenizer)
    : model_(std::make_shared<const models::MaskedModel>(std::move(model))),
      tokenizer_(std::move(tokenizer)),
      excluded_at_start_(excluded_tokens(tokenizer_, /*starts_word=*/true)),
      excluded_within_(excluded_tokens(tokenizer_, /*starts_word=*/false)) {}

std::vector<MaskCandidate> FillMask::best_words(std::span<const float> logits, bool starts_word,
                                                Index count) const {
  std::vector<MaskCandidate> words;
  for (const TokenScore& best : top_tokens(LogProbabilities::of_logits(logits), count,
                                           starts_word ? excluded_at_start_ : excluded_within_)) {
    words.push_back(
        {text::TextStream(tokenizer_).add(best.token), std::exp(double{best.log_probability})});
  }
  check_as(ErrorKind::model, !words.empty(), "vocabulary: expected pieces that ",
           starts_word ? "start" : "continue", " a word, found none");
  return words;
}

FilledLine FillMask::fill(std::string_view line, Index count) const {
  const std::string text(line);
  return std::move(fill(std::span(&text, 1), default_mask, count).front());
}

std::vector<FilledLine> FillMask::fill(std::span<const std::string> lines, std::string_view mask,
                                       Index count, const LineOptions& options) const {
  check_as(ErrorKind::usage, count >= 1, "`top`: expected a whole number of at least 1, found ",
           count);
  std::vector<std::vector<int>> encoded;
  std::vector<std::vector<text::MaskPosition>> masks;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text::MaskedText line = text::encode_masked_text(tokenizer_, lines[i], mask);
    check_as(ErrorKind::data, !line.masks.empty(), "line ",
             options.first_line + static_cast<Index>(i), ": expected the mask token ", mask,
             ", found none");
    const text::SequenceTemplate& sequence = tokenizer_.sequence();
    for (text::MaskPosition& each : line.masks) each.place += std::ssize(sequence.prefix);
    encoded.push_back(sequence.single(line.ids));
    masks.push_back(std::move(line.masks));
  }
  check_lengths(encoded, tokenizer_.sequence(), model_->config(), options);

  std::vector<FilledLine> filled(lines.size());
  over_batches(
      encoded, tokenizer_.sequence(), options.batch_tokens,
      [&](Index first, const models::PackedIds& input) {
        auto context = nn::ForwardContext::inference(nullptr, options.hook);
        const Tensor rows = model_->encode(input, context).values;
        for (Index s = 0; s < input.spans.count(); ++s) {
          for (const text::MaskPosition& place : masks[first + s]) {
            const Index row = input.spans[s].begin + place.place;
            const Tensor logits = model_->logits(ops::gather_rows(rows, {&row, 1}));  // [1, V]
            filled[first + s].push_back(best_words(logits.values(), place.begins_word, count));
          }
        }
      });
  return filled;
}

}  // namespace heed::infer
