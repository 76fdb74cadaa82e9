// Sentence embeddings: lines of text in, vectors out.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "heed/base/weight_format.h"
#include "heed/core/tensor.h"
#include "heed/infer/line_options.h"
#include "heed/text/tokenizer.h"

namespace heed::models {
class Classifier;
class Encoder;
class MaskedModel;
class Tagger;
class TranslationModel;
struct TransformerConfig;
}  // namespace heed::models

namespace heed::infer {

// Any model with an encoder: the pooled vector of an encoder without a head or of a classifier, or
// the mean of the encoder's output for the others. Copies share the model.
class SentenceEncoder {
 public:
  using Model = std::variant<models::Classifier, models::Encoder, models::MaskedModel,
                             models::Tagger, models::TranslationModel>;

  // Refuses (ErrorKind::model) a model without an encoder.
  // `weights`: the format to hold the weights in; not given: that of the folder.
  static SentenceEncoder load(const std::string& folder,
                              std::optional<WeightFormat> weights = std::nullopt);
  SentenceEncoder(Model model, text::Tokenizer tokenizer);

  // The prompt of this name in the folder, for example "query", stands before every text from now
  // on. Without a call it is the folder's default prompt, if there is one. Refuses
  // (ErrorKind::usage) other names.
  void use_prompt(const std::string& name);

  Index dim() const;
  // The vector of one line, D numbers.
  std::vector<float> encode(std::string_view line) const;
  // [lines, D], all finite. Refuses (ErrorKind::data) blank lines and lines that are too
  // long, and (ErrorKind::model) a model that makes NaN or infinity of a line.
  Tensor encode(std::span<const std::string> lines, const LineOptions& options = {}) const;

 private:
  const models::TransformerConfig& config() const;

  std::shared_ptr<const Model> model_;
  text::Tokenizer tokenizer_;
  std::map<std::string, std::string> prompts_;  // by their names
  std::string prompt_;                          // before every text
};

}  // namespace heed::infer
