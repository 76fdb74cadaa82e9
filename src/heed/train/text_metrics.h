// The scores of generated text that a validation computes, by the names of `heed evaluate`.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/choices.h"
#include "heed/metrics/bleu.h"
#include "heed/train/training_observer.h"

namespace heed::train {

enum class TextMetric { bleu, chrf, rouge, exact_match, squad };

// "bleu,rouge" -> the metrics, in this order; "none" -> none of them. Refuses (ErrorKind::usage)
// other names, and one that occurs twice; `what` is the start of the message.
std::vector<TextMetric> parse_text_metrics(std::string_view names, std::string_view what);

// The names of the scores that text_scores returns: rouge1, rouge2 and rougeL of rouge ...
std::vector<std::string> score_names(std::span<const TextMetric> metrics);

// In percent. One reference for each output.
std::vector<Score> text_scores(std::span<const TextMetric> metrics,
                               std::span<const std::string> outputs,
                               std::span<const std::string> references,
                               const metrics::BleuOptions& bleu);

}  // namespace heed::train

namespace heed {
template <>
std::span<const Choice<train::TextMetric>> choices();  // bleu, chrf, rouge, exact-match, squad
}  // namespace heed
