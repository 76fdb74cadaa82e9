// Lines of text to vectors.
#pragma once

#include <span>
#include <string>
#include <variant>

#include "heed/infer/line_batches.h"
#include "heed/models/classifier.h"
#include "heed/models/masked_model.h"
#include "heed/models/model_folder.h"
#include "heed/models/translation_model.h"

namespace heed::infer {

// Any model with an encoder: a classifier makes one vector of a line as it does for its classes;
// for a masked or a translation model it is the mean of the encoder's vectors.
class SentenceEncoder {
 public:
  using Model = std::variant<models::Classifier, models::MaskedModel, models::TranslationModel>;

  // Refuses (ErrorKind::model) a model without an encoder.
  static SentenceEncoder load(const std::string& folder);
  SentenceEncoder(Model model, text::Tokenizer tokenizer);

  Index dim() const { return config().model_dim; }
  // [lines, D]. Refuses what encode_lines refuses.
  Tensor encode(std::span<const std::string> lines, const LineOptions& options = {}) const;

 private:
  const models::TransformerConfig& config() const;

  Model model_;
  text::Tokenizer tokenizer_;
};

}  // namespace heed::infer
