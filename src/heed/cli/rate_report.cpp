#include "heed/cli/rate_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;
using train::RatePoint;

constexpr std::size_t max_rows = 30;
constexpr int plot_width = 50;

// The loss axis of the plot: from the lowest loss to a little above the first one, so that a loss
// that explodes does not flatten the rest.
struct LossAxis {
  double least, most;

  int column(double loss) const {
    const double share = (loss - least) / std::max(most - least, 1e-9);
    return static_cast<int>(std::clamp(share, 0.0, 1.0) * plot_width);
  }
};

LossAxis axis_of(const std::vector<RatePoint>& points) {
  const double least = train::lowest_point(points).smoothed;
  return {least, least + 1.25 * (points.front().smoothed - least)};
}

std::string row(const RatePoint& point, const LossAxis& axis, bool with_plot) {
  const std::string text = fmt::format("{:>13.2e}  {:>8.4f}", point.rate, point.smoothed);
  if (!with_plot) return text + '\n';
  return fmt::format("{}  {:>{}}\n", text, '*', axis.column(point.smoothed) + 1);
}

std::string end_of(const train::RateTest& test) {
  if (test.has_diverged) return fmt::format("diverged after {:.2g}", test.points.back().rate);
  return fmt::format("did not diverge up to {:.2g}", test.points.back().rate);
}

std::string suggestion(const train::RateTest& test) {
  const std::optional<double> rate = train::suggest_rate(test.points);
  if (!rate) return "no suggestion: the loss falls at none of these rates; " + end_of(test);
  const RatePoint& lowest = train::lowest_point(test.points);
  return fmt::format("suggestion: --learning-rate {:.2g} (lowest loss {:.4g} at {:.2g}; {})", *rate,
                     lowest.smoothed, lowest.rate, end_of(test));
}

}  // namespace

std::string rate_table(const train::RateTest& test, bool with_plot) {
  if (test.points.empty()) return "no suggestion: diverged in the first update\n";
  std::string table = fmt::format("{:>13}  {:>8}\n", "learning rate", "loss");
  const LossAxis axis = axis_of(test.points);
  const std::size_t stride = (test.points.size() + max_rows - 1) / max_rows;
  for (std::size_t i = 0; i < test.points.size(); i += stride) {
    table += row(test.points[i], axis, with_plot);
  }
  return table + suggestion(test) + '\n';
}

std::string rate_json(const train::RateTest& test) {
  Json object{{"suggestion", nullptr},
              {"lowest", nullptr},
              {"diverged", test.has_diverged},
              {"points", Json::array()}};
  const auto to_json = [](const RatePoint& point) {
    return Json{{"rate", point.rate}, {"loss", point.loss}, {"smoothed", point.smoothed}};
  };
  if (const auto rate = train::suggest_rate(test.points)) object["suggestion"] = *rate;
  if (!test.points.empty()) object["lowest"] = to_json(train::lowest_point(test.points));
  for (const RatePoint& point : test.points) object["points"].push_back(to_json(point));
  return object.dump() + '\n';
}

}  // namespace heed::cli
