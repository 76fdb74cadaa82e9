#include "heed/generate/gap_filler.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/generate/top_tokens.h"
#include "heed/ops/embedding.h"
#include "heed/text/gaps.h"

namespace heed::generate {
namespace {

constexpr std::string_view visible_space = "\xe2\x96\x81";  // U+2581

// Whether a piece can stand in a gap. Where spaces are pieces of their own, all can.
bool is_answer(const text::Tokenizer& tokenizer, int id, bool begins_word) {
  if (id <= text::Tokenizer::end || id == tokenizer.mask()) return false;
  const std::string piece = tokenizer.piece(id);
  if (piece == visible_space) return false;
  if (tokenizer.subwords() == text::Subwords::character) return true;
  return piece.starts_with(visible_space) == begins_word;
}

std::vector<int> all_but_answers(const text::Tokenizer& tokenizer, bool begins_word) {
  std::vector<int> never;
  for (int id = 0; id < tokenizer.size(); ++id) {
    if (!is_answer(tokenizer, id, begins_word)) never.push_back(id);
  }
  return never;
}

}  // namespace

GapFiller GapFiller::load(const std::string& folder) {
  models::MaskedModelFolder loaded = models::load_masked_model_folder(folder);
  nn::pack_weights(loaded.model);
  return {std::move(loaded.model), std::move(loaded.tokenizer)};
}

GapFiller::GapFiller(models::MaskedModel model, text::Tokenizer tokenizer)
    : model_(std::move(model)),
      tokenizer_(std::move(tokenizer)),
      never_at_begin_(all_but_answers(tokenizer_, /*begins_word=*/true)),
      never_within_(all_but_answers(tokenizer_, /*begins_word=*/false)) {}

std::vector<GapWord> GapFiller::best_words(std::span<const float> logits, bool begins_word,
                                           Index count) const {
  std::vector<GapWord> words;
  for (const TokenScore& best : top_tokens(LogProbabilities::of_logits(logits), count,
                                           begins_word ? never_at_begin_ : never_within_)) {
    words.push_back({tokenizer_.decode({&best.token, 1}), std::exp(double{best.log_probability})});
  }
  return words;
}

std::vector<FilledLine> GapFiller::fill(std::span<const std::string> lines, std::string_view gap,
                                        Index count, const LineOptions& options) const {
  std::vector<std::vector<int>> encoded;
  std::vector<std::vector<text::Gap>> gaps;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text::GappedLine line = text::encode_gaps(tokenizer_, lines[i], gap);
    check_as(ErrorKind::data, !line.gaps.empty(), "line ",
             options.first_line + static_cast<Index>(i), ": expected a gap ", gap, ", found none");
    line.ids.push_back(text::Tokenizer::end);
    encoded.push_back(std::move(line.ids));
    gaps.push_back(std::move(line.gaps));
  }
  check_lengths(encoded, model_.config(), options);

  std::vector<FilledLine> filled(lines.size());
  over_batches(encoded, options.batch_tokens, [&](Index first, const models::PackedIds& input) {
    auto context = nn::ForwardContext::inference(nullptr, options.changes);
    const Tensor rows = model_.encode(input, context).values;
    for (Index s = 0; s < input.spans.count(); ++s) {
      for (const text::Gap& place : gaps[first + s]) {
        const Index row = input.spans[s].begin + place.place;
        const Tensor logits = model_.logits(ops::gather_rows(rows, {&row, 1}));  // [1, V]
        filled[first + s].push_back(best_words(logits.values(), place.begins_word, count));
      }
    }
  });
  return filled;
}

}  // namespace heed::generate
