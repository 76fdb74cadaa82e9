// Sentence embeddings: lines of text in, vectors out.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "heed/infer/line_batches.h"
#include "heed/models/classifier.h"
#include "heed/models/masked_model.h"
#include "heed/models/model_folder.h"
#include "heed/models/translation_model.h"

namespace heed::infer {

// Any model with an encoder: the pooled vector of a classifier, or the mean of the encoder's output
// for a masked or a translation model.
class SentenceEncoder {
 public:
  using Model = std::variant<models::Classifier, models::MaskedModel, models::TranslationModel>;

  // Refuses (ErrorKind::model) a model without an encoder.
  static SentenceEncoder load(const std::string& folder);
  SentenceEncoder(Model model, text::Tokenizer tokenizer);

  Index dim() const { return config().model_dim; }
  // The vector of one line, D numbers.
  std::vector<float> encode(std::string_view line) const;
  // [lines, D], all finite. Refuses what encode_lines refuses, and (ErrorKind::model) a model that
  // makes NaN or infinity of a line.
  Tensor encode(std::span<const std::string> lines, const LineOptions& options = {}) const;

 private:
  const models::TransformerConfig& config() const;

  Model model_;
  text::Tokenizer tokenizer_;
};

}  // namespace heed::infer
