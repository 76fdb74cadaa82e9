// Text classification: lines of text in, classes out.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/infer/class_probabilities.h"
#include "heed/infer/line_batches.h"
#include "heed/models/classifier.h"
#include "heed/models/model_folder.h"

namespace heed::infer {

class LineClassifier {
 public:
  static LineClassifier load(const std::string& folder);
  LineClassifier(models::Classifier model, text::Tokenizer tokenizer);

  const std::vector<std::string>& labels() const { return model_.config().labels; }

  // The most likely class of one line: its label and probability.
  ClassProbability classify(std::string_view line) const;

  // For each line the `count` most likely classes, the most likely first; all of them if there are
  // fewer. Refuses what encode_lines refuses.
  std::vector<std::vector<ClassProbability>> classify(std::span<const std::string> lines,
                                                      Index count = 1,
                                                      const LineOptions& options = {}) const;

 private:
  models::Classifier model_;
  text::Tokenizer tokenizer_;
};

}  // namespace heed::infer
