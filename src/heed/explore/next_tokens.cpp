#include "heed/explore/next_tokens.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/infer/text_generator.h"
#include "heed/infer/top_tokens.h"

namespace heed::explore {

using nlohmann::json;

std::vector<NextToken> next_tokens(std::span<const float> logits,
                                   const infer::SamplingOptions& options, Index count) {
  std::map<int, double> chances;
  for (const infer::TokenProbability& kept : infer::candidates(logits, options)) {
    chances[kept.token] = kept.probability;
  }
  std::vector<NextToken> tokens;
  for (const infer::TokenScore& best :
       infer::top_tokens(infer::LogProbabilities::of_logits(logits), count, {})) {
    const auto kept = chances.find(best.token);
    const bool is_kept = kept != chances.end();
    tokens.push_back({.token = best.token,
                      .logit = logits[static_cast<std::size_t>(best.token)],
                      .probability = std::exp(double{best.log_probability}),
                      .is_kept = is_kept,
                      .chance = is_kept ? kept->second : 0});
  }
  return tokens;
}

std::vector<NextToken> next_tokens(const ModelSession& session, const PassInput& input,
                                   const nn::Interventions* interventions,
                                   const infer::SamplingOptions& options, Index count) {
  check_as(ErrorKind::usage, session.translation() || session.language(),
           "next: expected a model that generates text, found ", name_of(session.kind()));
  infer::validate(options);
  const std::vector<int>& read = session.language() ? input.source : input.target;
  check_as(ErrorKind::usage, !read.empty(), "next: expected a token at least, found none");
  const NoGrad no_grad;
  auto context = nn::ForwardContext::inference(nullptr, interventions);
  Tensor logits = teacher_forced_logits(session, input, context);  // [N, V]
  const std::span<float> last = logits.values().last(static_cast<std::size_t>(logits.dim(1)));
  if (session.language()) session.text_generator()->suppress_special_tokens(last);
  return next_tokens(last, options, count);
}

json to_json(std::span<const NextToken> tokens, const ModelSession& session) {
  json array = json::array();
  for (const NextToken& next : tokens) {
    array.push_back({{"piece", session.tokenizer().piece(next.token)},
                     {"id", next.token},
                     {"logit", next.logit},
                     {"probability", next.probability},
                     {"kept", next.is_kept},
                     {"chance", next.chance}});
  }
  return {{"tokens", std::move(array)}};
}

}  // namespace heed::explore
