// Text classification: lines of text in, classes out.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/infer/class_probabilities.h"
#include "heed/infer/line_options.h"
#include "heed/text/tokenizer.h"

namespace heed::models {
class Classifier;
}

namespace heed::infer {

// Copies share the model.
class LineClassifier {
 public:
  static LineClassifier load(const std::string& folder);
  LineClassifier(models::Classifier model, text::Tokenizer tokenizer);

  const std::vector<std::string>& labels() const;

  // The most likely class of one line: its label and probability.
  ClassProbability classify(std::string_view line) const;

  // For each line the `count` most likely classes, the most likely first; all of them if there are
  // fewer. Refuses (ErrorKind::data) blank lines, and lines that are longer than the model's
  // learned positions.
  std::vector<std::vector<ClassProbability>> classify(std::span<const std::string> lines,
                                                      Index count = 1,
                                                      const LineOptions& options = {}) const;

 private:
  std::shared_ptr<const models::Classifier> model_;
  text::Tokenizer tokenizer_;
};

}  // namespace heed::infer
