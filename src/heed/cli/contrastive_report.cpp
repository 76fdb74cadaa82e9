#include "heed/cli/contrastive_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "heed/cli/one_line.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string accuracy_line(const metrics::GroupAccuracy& accuracy) {
  return fmt::format("accuracy {:.4f} ({} of {})\n", accuracy.accuracy(), accuracy.num_right,
                     accuracy.num_items);
}

void add_accuracy(Json& object, const metrics::GroupAccuracy& accuracy) {
  object["items"] = accuracy.num_items;
  object["right"] = accuracy.num_right;
  object["accuracy"] = accuracy.accuracy();
}

}  // namespace

std::string accuracy_lines(const metrics::GroupAccuracy& total,
                           std::span<const metrics::GroupAccuracy> groups) {
  std::string lines = accuracy_line(total);
  for (const metrics::GroupAccuracy& group : groups) {
    lines += on_one_line(group.group) + ": " + accuracy_line(group);
  }
  return lines;
}

Json contrastive_report(const metrics::GroupAccuracy& total,
                        std::span<const metrics::GroupAccuracy> groups) {
  Json report;
  add_accuracy(report, total);
  report["groups"] = Json::array();
  for (const metrics::GroupAccuracy& group : groups) {
    Json one{{"group", group.group}};
    add_accuracy(one, group);
    report["groups"].push_back(std::move(one));
  }
  return report;
}

}  // namespace heed::cli
