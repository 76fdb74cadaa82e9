#include "heed/infer/text_likelihood.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/data/text_windows.h"
#include "heed/text/encode_lines.h"

namespace heed::infer {
namespace {

// Tokens in a batch.
constexpr Index batch_tokens = 4096;

// The token that the first one of a text follows: the begin token of a family that has one, or that
// of a line end.
std::vector<int> before_text(const text::Tokenizer& tokenizer) {
  std::vector<int> ids = tokenizer.sequence().prefix;
  if (ids.empty()) ids = text::encode_line_end(tokenizer);
  if (ids.empty()) ids = {tokenizer.end_token()};
  if (!tokenizer.is_own()) ids.erase(ids.begin(), ids.end() - 1);
  return ids;
}

}  // namespace

TextLikelihood text_likelihood(const models::LanguageModel& model, const text::Tokenizer& tokenizer,
                               std::span<const std::string> lines) {
  const std::vector<int> text = data::encode_text(lines, tokenizer);
  std::vector<int> before = before_text(tokenizer);  // what each token follows
  before.insert(before.end(), text.begin(), text.end());
  const NoGrad no_grad;
  const Index context_size = model.config().max_positions, num_tokens = std::ssize(text);
  const Index per_batch = std::max<Index>(1, batch_tokens / context_size) * context_size;

  TextLikelihood total{0, num_tokens};
  for (Index begin = 0; begin < num_tokens; begin += per_batch) {
    const Index end = std::min(begin + per_batch, num_tokens);
    std::vector<Index> lengths;
    for (Index at = begin; at < end; at += context_size) {
      lengths.push_back(std::min(context_size, end - at));
    }
    const models::LanguageBatch batch{
        {{before.begin() + begin, before.begin() + end}, Spans::of_lengths(lengths)},
        {text.begin() + begin, text.begin() + end}};
    auto context = nn::ForwardContext::inference();
    total.negative_log_likelihood += model.loss(batch, context).negative_log_likelihood;
  }
  check_as(ErrorKind::model, std::isfinite(total.negative_log_likelihood),
           "model: expected a finite log-probability of the text, found NaN or infinity");
  return total;
}

}  // namespace heed::infer
