#include "heed/cli/tag_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace heed::cli {

using Json = nlohmann::ordered_json;

namespace {

std::string text_of(const metrics::PrecisionRecall& scores) {
  return fmt::format("precision {:.4f}, recall {:.4f}, F1 {:.4f}", scores.precision, scores.recall,
                     scores.f1);
}

void add_scores(Json& json, const metrics::PrecisionRecall& scores) {
  json["precision"] = scores.precision;
  json["recall"] = scores.recall;
  json["f1"] = scores.f1;
}

Json tags_json(const metrics::ConfusionTable& words, std::span<const std::string> tags) {
  Json all = Json::array();
  for (int tag = 0; tag < words.num_classes(); ++tag) {
    Json of_tag{{"tag", tags[static_cast<std::size_t>(tag)]}, {"words", words.num_right(tag)}};
    add_scores(of_tag, metrics::class_scores(words, tag));
    all.push_back(std::move(of_tag));
  }
  return all;
}

Json confusion_json(const metrics::ConfusionTable& words) {
  Json rows = Json::array();
  for (int right = 0; right < words.num_classes(); ++right) {
    Json row = Json::array();
    for (int given = 0; given < words.num_classes(); ++given) {
      row.push_back(words.count(right, given));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Json entities_json(const metrics::SequenceLabelScores& entities) {
  Json json{{"count", entities.support}};
  add_scores(json, entities.micro);
  json["types"] = Json::array();
  for (const metrics::EntityTypeScores& type : entities.types) {
    Json of_type{{"type", type.type}, {"count", type.support}};
    add_scores(of_type, type.scores);
    json["types"].push_back(std::move(of_type));
  }
  return json;
}

}  // namespace

std::string score_lines(const metrics::TagScores& scores) {
  const metrics::ConfusionTable& words = scores.words;
  std::string lines = fmt::format("accuracy {:.4f} ({} of {} words)\n", metrics::accuracy(words),
                                  words.num_correct(), words.num_lines());
  if (!scores.entities) return lines + fmt::format("macro-F1 {:.4f}\n", metrics::macro_f1(words));
  lines +=
      fmt::format("{} ({} entities)\n", text_of(scores.entities->micro), scores.entities->support);
  for (const metrics::EntityTypeScores& type : scores.entities->types) {
    lines += fmt::format("{}: {} ({})\n", type.type, text_of(type.scores), type.support);
  }
  return lines;
}

Json tag_report(const metrics::TagScores& scores, std::span<const std::string> tags,
                bool with_confusion) {
  Json report{{"words", scores.words.num_lines()},
              {"accuracy", metrics::accuracy(scores.words)},
              {"macro_f1", metrics::macro_f1(scores.words)}};
  if (scores.entities) report["entities"] = entities_json(*scores.entities);
  report["tags"] = tags_json(scores.words, tags);
  if (with_confusion) report["confusion"] = confusion_json(scores.words);
  return report;
}

}  // namespace heed::cli
