// The words that a masked model puts into the gaps of a line.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/infer/line_batches.h"
#include "heed/models/masked_model.h"
#include "heed/models/model_folder.h"

namespace heed::infer {

struct MaskCandidate {
  std::string word;
  double probability = 0;  // of this piece among all
};

// The words of each gap of a line, the most likely first.
using FilledLine = std::vector<std::vector<MaskCandidate>>;

class FillMask {
 public:
  static FillMask load(const std::string& folder);
  // The tokenizer has a mask.
  FillMask(models::MaskedModel model, text::Tokenizer tokenizer);

  // The `count` most likely words for every place where `gap` stands. A gap behind a space takes
  // pieces that begin a word, one within a word takes the others. Refuses (ErrorKind::data) lines
  // without a gap, and those that check_lengths refuses.
  std::vector<FilledLine> fill(std::span<const std::string> lines, std::string_view mask,
                               Index count, const LineOptions& options = {}) const;

 private:
  std::vector<MaskCandidate> best_words(std::span<const float> logits, bool begins_word,
                                        Index count) const;

  models::MaskedModel model_;
  text::Tokenizer tokenizer_;
  // Tokens that are no answer, sorted: for a gap that begins a word, and for one within a word.
  std::vector<int> never_at_begin_, never_within_;
};

}  // namespace heed::infer
