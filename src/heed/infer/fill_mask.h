// Fill-mask: the most likely words for the masked tokens of a line, by a masked language model.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/weight_format.h"
#include "heed/infer/line_options.h"
#include "heed/text/tokenizer.h"

namespace heed::models {
class MaskedModel;
}

namespace heed::infer {

struct MaskCandidate {
  std::string word;
  double probability = 0;  // of this piece, among the whole vocabulary
};

// The candidates for each mask of a line, the most likely first.
using FilledLine = std::vector<std::vector<MaskCandidate>>;

// Copies share the model.
class FillMask {
 public:
  // `weights`: the format to hold the weights in; not given: that of the folder.
  static FillMask load(const std::string& folder,
                       std::optional<WeightFormat> weights = std::nullopt);
  // The tokenizer must have a mask token.
  FillMask(models::MaskedModel model, text::Tokenizer tokenizer);

  static constexpr std::string_view default_mask = "<mask>";

  // Does the line hold `mask`, or the mask as the tokenizer of another family writes it?
  bool has_mask(std::string_view line, std::string_view mask) const;

  // The candidates for each `<mask>` of one line.
  FilledLine fill(std::string_view line, Index count = 5) const;

  // The `count` most likely words for every `mask` in the lines. A mask at the start of a word,
  // after a space, takes pieces that start a word; one within a word takes the others. There is at
  // least one for every mask. Refuses (ErrorKind::data) lines without a mask, and those that
  // check_lengths refuses, (ErrorKind::usage) a count below 1, and (ErrorKind::model) a model
  // without finite logits or without any such piece.
  std::vector<FilledLine> fill(std::span<const std::string> lines, std::string_view mask,
                               Index count, const LineOptions& options = {}) const;

 private:
  std::vector<MaskCandidate> best_words(std::span<const float> logits, bool starts_word,
                                        Index count) const;

  std::shared_ptr<const models::MaskedModel> model_;
  text::Tokenizer tokenizer_;
  // Tokens that are no candidates, sorted: for a mask that starts a word, and for one within a
  // word.
  std::vector<int> excluded_at_start_, excluded_within_;
};

}  // namespace heed::infer
