// The scores of a classifier, as lines of text or as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "heed/metrics/classification.h"

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

}  // namespace heed::cli
