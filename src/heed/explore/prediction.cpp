#include "heed/explore/prediction.h"

#include "heed/base/error.h"
#include "heed/infer/top_tokens.h"

namespace heed::explore {
namespace {

using infer::LogProbabilities;
using models::ModelKind;

void check_below(Index value, Index count, const char* what) {
  check_as(ErrorKind::usage, value >= 0 && value < count, "prediction: expected a ", what,
           " below ", count, ", found ", value);
}

Index row_of_mask(const ModelSession& session, const std::vector<int>& source, Index number) {
  const std::optional<int> mask = session.tokenizer().mask();
  std::vector<Index> rows;
  for (Index row = 0; row < std::ssize(source); ++row) {
    if (source[row] == mask) rows.push_back(row);
  }
  check_below(number, std::ssize(rows), "mask");
  return rows[number];
}

// The place is the last that is read.
void cut(std::vector<int>& ids, Index place) {
  check_below(place, std::ssize(ids), "position");
  ids.resize(static_cast<std::size_t>(place + 1));
}

// All but the token.
Prediction place_of(const ModelSession& session, const PassInput& input, Index place) {
  Prediction prediction{.input = input};
  switch (session.kind()) {
    case ModelKind::translation:
      cut(prediction.input.target, place);
      prediction.row = place;
      break;
    case ModelKind::language:
      cut(prediction.input.source, place);
      prediction.row = place;
      break;
    case ModelKind::masked:
      prediction.row = row_of_mask(session, input.source, place);
      break;
    case ModelKind::tagger:
      check_below(place, std::ssize(input.source), "position");
      prediction.row = place;
      break;
    default:
      check_below(place, std::ssize(session.config().labels), "class");
  }
  return prediction;
}

// [V]
std::vector<float> logits_of(const ModelSession& session, const Prediction& prediction,
                             const nn::Interventions& interventions) {
  const NoGrad no_grad;
  auto context = nn::ForwardContext::inference(nullptr, &interventions);
  const Tensor logits = teacher_forced_logits(session, prediction.input, context);
  const auto row = logits.values().subspan(prediction.row * logits.dim(1), logits.dim(1));
  return {row.begin(), row.end()};
}

}  // namespace

Prediction prediction_of(const ModelSession& session, const PassInput& input,
                         const nn::Interventions& interventions, const PredictionTarget& target) {
  check_as(ErrorKind::usage, !session.encoder(),
           "prediction: expected a model that predicts something, found ", name_of(session.kind()));
  Prediction prediction = place_of(session, input, target.place);
  if (session.kind() == ModelKind::classifier) {
    prediction.token = static_cast<int>(target.place);
  } else if (target.token) {
    const bool is_tag = session.kind() == ModelKind::tagger;
    check_below(*target.token,
                is_tag ? std::ssize(session.config().labels) : session.config().vocabulary,
                is_tag ? "tag" : "token");
    prediction.token = static_cast<int>(*target.token);
  } else if (const auto token = token_after(session, input, target.place)) {
    prediction.token = *token;
  } else {
    const std::vector<float> logits = logits_of(session, prediction, interventions);
    prediction.token = infer::top_tokens(LogProbabilities::of_logits(logits), 1, {}).at(0).token;
  }
  return prediction;
}

double log_probability(const ModelSession& session, const Prediction& prediction,
                       const nn::Interventions& interventions) {
  const std::vector<float> logits = logits_of(session, prediction, interventions);
  return LogProbabilities::of_logits(logits)[prediction.token];
}

Prediction without_token(Prediction prediction, const ModelSession& session, Index place) {
  prediction.input.source.erase(prediction.input.source.begin() + place);
  // The rows of these are those of the source.
  const bool has_later = session.kind() == ModelKind::masked || session.kind() == ModelKind::tagger;
  const bool is_moved =
      session.kind() == ModelKind::language || (has_later && place < prediction.row);
  if (is_moved) --prediction.row;
  return prediction;
}

nn::Interventions without_token(const nn::Interventions& interventions, const ModelSession& session,
                                Index place) {
  nn::Interventions moved = interventions;
  moved.knockouts.clear();
  for (nn::Interventions::Knockout link : interventions.knockouts) {
    const Site& site = session.site(link.layer);
    const bool has_query = site.queries == "source", has_key = site.keys == "source";
    if ((has_query && link.query == place) || (has_key && link.key == place)) continue;
    if (has_query && link.query > place) --link.query;
    if (has_key && link.key > place) --link.key;
    moved.knockouts.push_back(std::move(link));
  }
  return moved;
}

}  // namespace heed::explore
