#include "heed/metrics/perplexity.h"

#include <cmath>
#include <limits>

#include "heed/base/error.h"
#include "heed/metrics/unicode.h"

namespace heed::metrics {
namespace {

double spread_over(double negative_log_likelihood, Index units) {
  if (units == 0) return std::numeric_limits<double>::infinity();
  return std::exp(negative_log_likelihood / static_cast<double>(units));
}

}  // namespace

void TextLength::add(std::string_view text, Index num_tokens) {
  tokens += num_tokens;
  words += std::ssize(split_words(text));
  characters += std::ssize(decode_utf8(text));
}

Perplexity perplexity(double negative_log_likelihood, const TextLength& length) {
  check(!(negative_log_likelihood < 0), "perplexity: expected a sum of -log p of at least 0, got ",
        negative_log_likelihood);
  return {.token = spread_over(negative_log_likelihood, length.tokens),
          .word = spread_over(negative_log_likelihood, length.words),
          .character = spread_over(negative_log_likelihood, length.characters)};
}

}  // namespace heed::metrics
