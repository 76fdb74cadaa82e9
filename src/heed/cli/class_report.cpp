#include "heed/cli/class_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "heed/cli/one_line.h"
#include "heed/metrics/regression.h"

namespace heed::cli {

using Json = nlohmann::ordered_json;

std::string score_lines(const metrics::ConfusionTable& table) {
  return fmt::format("accuracy {:.4f} ({} of {})\nmacro-F1 {:.4f}\n", metrics::accuracy(table),
                     table.num_correct(), table.num_lines(), metrics::macro_f1(table));
}

std::string confusion_lines(const metrics::ConfusionTable& table,
                            std::span<const std::string> labels) {
  std::string text = "label";
  for (const std::string& label : labels) text += '\t' + on_one_line(label);
  text += '\n';
  for (int right = 0; right < table.num_classes(); ++right) {
    text += on_one_line(labels[static_cast<std::size_t>(right)]);
    for (int given = 0; given < table.num_classes(); ++given) {
      text += '\t' + std::to_string(table.count(right, given));
    }
    text += '\n';
  }
  return text;
}

std::string score_lines(const metrics::LabelCounts& counts) {
  return fmt::format("micro-F1 {:.4f}\nmacro-F1 {:.4f}\nsubset accuracy {:.4f} ({} of {})\n",
                     counts.micro().f1, metrics::macro_f1(counts), metrics::subset_accuracy(counts),
                     counts.num_exact(), counts.num_texts());
}

Json label_report(const metrics::LabelCounts& counts, std::span<const std::string> labels) {
  const metrics::PrecisionRecall micro = counts.micro();
  Json report{{"lines", counts.num_texts()},
              {"micro_precision", micro.precision},
              {"micro_recall", micro.recall},
              {"micro_f1", micro.f1},
              {"macro_f1", metrics::macro_f1(counts)},
              {"subset_accuracy", metrics::subset_accuracy(counts)},
              {"labels", Json::array()}};
  for (int label = 0; label < counts.num_labels(); ++label) {
    const metrics::PrecisionRecall scores = counts.scores(label);
    report["labels"].push_back({{"label", labels[static_cast<std::size_t>(label)]},
                                {"lines", counts.num_right(label)},
                                {"precision", scores.precision},
                                {"recall", scores.recall},
                                {"f1", scores.f1}});
  }
  return report;
}

std::string number_score_lines(std::span<const double> right, std::span<const double> given) {
  return fmt::format(
      "Pearson {:.4f}\nSpearman {:.4f}\nMSE {:.6g}\n", metrics::pearson_correlation(right, given),
      metrics::spearman_correlation(right, given), metrics::mean_squared_error(right, given));
}

Json number_report(std::span<const double> right, std::span<const double> given) {
  return {{"lines", right.size()},
          {"pearson", metrics::pearson_correlation(right, given)},
          {"spearman", metrics::spearman_correlation(right, given)},
          {"mse", metrics::mean_squared_error(right, given)}};
}

Json class_report(const metrics::ConfusionTable& table, std::span<const std::string> labels,
                  bool with_confusion) {
  Json report{{"lines", table.num_lines()},
              {"accuracy", metrics::accuracy(table)},
              {"macro_f1", metrics::macro_f1(table)},
              {"classes", Json::array()}};
  for (int one = 0; one < table.num_classes(); ++one) {
    const metrics::PrecisionRecall scores = metrics::class_scores(table, one);
    report["classes"].push_back({{"label", labels[static_cast<std::size_t>(one)]},
                                 {"lines", table.num_right(one)},
                                 {"precision", scores.precision},
                                 {"recall", scores.recall},
                                 {"f1", scores.f1}});
    if (!with_confusion) continue;
    Json row = Json::array();
    for (int given = 0; given < table.num_classes(); ++given)
      row.push_back(table.count(one, given));
    report["confusion"].push_back(row);
  }
  return report;
}

}  // namespace heed::cli
