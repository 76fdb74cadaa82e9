#include "heed/train/text_metrics.h"

#include <algorithm>
#include <array>

#include "heed/base/error.h"
#include "heed/metrics/answers.h"
#include "heed/metrics/chrf.h"
#include "heed/metrics/rouge.h"

namespace heed {

template <>
std::span<const Choice<train::TextMetric>> choices() {
  using train::TextMetric;
  static constexpr std::array all{
      Choice{"bleu", TextMetric::bleu}, Choice{"chrf", TextMetric::chrf},
      Choice{"rouge", TextMetric::rouge}, Choice{"exact-match", TextMetric::exact_match},
      Choice{"squad", TextMetric::squad}};
  return all;
}

}  // namespace heed

namespace heed::train {
namespace {

using Lines = std::span<const std::string>;

std::vector<Score> rouge_scores(Lines outputs, Lines references) {
  const metrics::RougeScores rouge = metrics::corpus_rouge(outputs, references);
  return {{"rouge1", 100 * rouge.rouge_1.f1},
          {"rouge2", 100 * rouge.rouge_2.f1},
          {"rougeL", 100 * rouge.rouge_l.f1}};
}

std::vector<Score> exact_match_score(Lines outputs, Lines references) {
  const auto matches = static_cast<double>(metrics::count_exact_matches(outputs, references));
  const auto count = static_cast<double>(std::max<std::size_t>(outputs.size(), 1));
  return {{"exact_match", 100 * matches / count}};
}

std::vector<Score> squad_scores(Lines outputs, Lines references) {
  const metrics::SquadScores squad = metrics::corpus_squad(outputs, references);
  return {{"squad_exact_match", 100 * squad.exact_match}, {"squad_f1", 100 * squad.f1}};
}

std::vector<Score> scores_of(TextMetric metric, Lines outputs, Lines references,
                             const metrics::BleuOptions& bleu) {
  switch (metric) {
    case TextMetric::bleu:
      return {{"bleu", metrics::corpus_bleu(outputs, references, bleu).score}};
    case TextMetric::chrf:
      return {{"chrf", metrics::corpus_chrf(outputs, references)}};
    case TextMetric::rouge:
      return rouge_scores(outputs, references);
    case TextMetric::exact_match:
      return exact_match_score(outputs, references);
    case TextMetric::squad:
      break;
  }
  return squad_scores(outputs, references);
}

}  // namespace

std::vector<TextMetric> parse_text_metrics(std::string_view names, std::string_view what) {
  std::vector<TextMetric> metrics;
  if (names == "none") return metrics;
  for (;;) {
    const std::size_t comma = names.find(',');
    const std::string_view name = names.substr(0, comma);
    const auto metric = parse_choice<TextMetric>(name, what);
    check_as(ErrorKind::usage, std::ranges::find(metrics, metric) == metrics.end(), what,
             ": expected different names, found ", name, " twice");
    metrics.push_back(metric);
    if (comma == std::string_view::npos) return metrics;
    names.remove_prefix(comma + 1);
  }
}

std::vector<std::string> score_names(std::span<const TextMetric> metrics) {
  std::vector<std::string> names;
  for (const Score& score : text_scores(metrics, {}, {}, {})) names.push_back(score.name);
  return names;
}

std::vector<Score> text_scores(std::span<const TextMetric> metrics, Lines outputs, Lines references,
                               const metrics::BleuOptions& bleu) {
  std::vector<Score> scores;
  for (const TextMetric metric : metrics) {
    for (Score& score : scores_of(metric, outputs, references, bleu)) {
      scores.push_back(std::move(score));
    }
  }
  return scores;
}

}  // namespace heed::train
