// Text classification: lines of text, or pairs of texts, in; classes, labels or a number out.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/problem_type.h"
#include "heed/base/weight_format.h"
#include "heed/infer/class_probabilities.h"
#include "heed/infer/line_options.h"
#include "heed/text/tokenizer.h"

namespace heed::models {
class Classifier;
}

namespace heed::infer {

// The text of every line and, for a model of pairs, the second text of each.
struct TextLines {
  std::span<const std::string> first;
  std::span<const std::string> second = {};
};

// Copies share the model.
class LineClassifier {
 public:
  // `weights`: the format to hold the weights in; not given: that of the folder.
  static LineClassifier load(const std::string& folder,
                             std::optional<WeightFormat> weights = std::nullopt);
  LineClassifier(models::Classifier model, text::Tokenizer tokenizer);

  const std::vector<std::string>& labels() const;
  ProblemType problem_type() const;
  bool reads_pairs() const;
  // Folders of other families do not say what their models were trained on.
  bool may_read_pairs() const;

  // The most likely class of one line: its label and probability.
  ClassProbability classify(std::string_view line) const;

  // For each line the `count` most likely classes, the most likely first; all of them if there are
  // fewer. Where a line may have several labels, each probability is that of a label for itself.
  // Refuses (ErrorKind::data) blank lines, and lines that are longer than the model's learned
  // positions; and (ErrorKind::model) a regression, and second texts that the model does not read
  // or lacks.
  std::vector<std::vector<ClassProbability>> classify(std::span<const std::string> lines,
                                                      Index count = 1,
                                                      const LineOptions& options = {}) const;
  std::vector<std::vector<ClassProbability>> classify(const TextLines& lines, Index count = 1,
                                                      const LineOptions& options = {}) const;

  // The number that a regression predicts for each line. Refuses what `classify` refuses, and
  // (ErrorKind::model) a model of classes.
  std::vector<double> scores(const TextLines& lines, const LineOptions& options = {}) const;

 private:
  using UseLogits = std::function<void(std::size_t line, std::span<const float> logits)>;
  void over_lines(const TextLines& lines, const LineOptions& options, const UseLogits& use) const;

  std::shared_ptr<const models::Classifier> model_;
  text::Tokenizer tokenizer_;
};

}  // namespace heed::infer
