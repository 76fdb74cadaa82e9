// The scores of a classifier, as lines of text or as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "heed/metrics/classification.h"
#include "heed/metrics/multi_label.h"

namespace heed::cli {

// accuracy 0.8956 (4030 of 4500)
// macro-F1 0.8943
std::string score_lines(const metrics::ConfusionTable& table);

// Tab-separated: a row for each right label, a column for each given one.
std::string confusion_lines(const metrics::ConfusionTable& table,
                            std::span<const std::string> labels);

// Accuracy, macro-F1, and precision, recall and F1 of every class; the table only if asked for.
nlohmann::ordered_json class_report(const metrics::ConfusionTable& table,
                                    std::span<const std::string> labels, bool with_confusion);

// micro-F1 0.8723
// macro-F1 0.8541
// subset accuracy 0.7120 (712 of 1000)
std::string score_lines(const metrics::LabelCounts& counts);
// The same, and precision, recall and F1 of every label.
nlohmann::ordered_json label_report(const metrics::LabelCounts& counts,
                                    std::span<const std::string> labels);

// Pearson's and Spearman's correlation and the mean squared error of predicted numbers.
std::string number_score_lines(std::span<const double> right, std::span<const double> given);
nlohmann::ordered_json number_report(std::span<const double> right, std::span<const double> given);

}  // namespace heed::cli
