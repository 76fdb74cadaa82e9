#include "heed/explore/prediction.h"

#include "heed/base/error.h"
#include "heed/generate/top_tokens.h"

namespace heed::explore {
namespace {

using generate::LogProbabilities;
using models::ModelKind;

void check_below(Index found, Index count, const char* what) {
  check_as(ErrorKind::usage, found >= 0 && found < count, "prediction: expected a ", what,
           " below ", count, ", found ", found);
}

Index row_of_gap(const ModelSession& session, const std::vector<int>& source, Index gap) {
  const std::optional<int> mask = session.tokenizer().mask();
  std::vector<Index> rows;
  for (Index row = 0; row < std::ssize(source); ++row) {
    if (source[row] == mask) rows.push_back(row);
  }
  check_below(gap, std::ssize(rows), "gap");
  return rows[gap];
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
      prediction.row = row_of_gap(session, input.source, place);
      break;
    default:
      check_below(place, std::ssize(session.config().labels), "class");
  }
  return prediction;
}

// [V]
std::vector<float> logits_of(const ModelSession& session, const Prediction& prediction,
                             const nn::AttentionChanges& changes) {
  const NoRecording no_recording;
  auto context = nn::ForwardContext::inference(nullptr, &changes);
  const Tensor logits = forced_logits(session, prediction.input, context);
  const auto row = logits.values().subspan(prediction.row * logits.dim(1), logits.dim(1));
  return {row.begin(), row.end()};
}

}  // namespace

Prediction prediction_of(const ModelSession& session, const PassInput& input,
                         const nn::AttentionChanges& changes, const PredictionTarget& target) {
  Prediction prediction = place_of(session, input, target.place);
  if (session.kind() == ModelKind::classifier) {
    prediction.token = static_cast<int>(target.place);
  } else if (const auto token =
                 target.token ? target.token : token_behind(session, input, target.place)) {
    check_below(*token, session.config().vocabulary, "token");
    prediction.token = *token;
  } else {
    const std::vector<float> logits = logits_of(session, prediction, changes);
    prediction.token = generate::top_tokens(LogProbabilities::of_logits(logits), 1, {}).at(0).token;
  }
  return prediction;
}

double log_probability(const ModelSession& session, const Prediction& prediction,
                       const nn::AttentionChanges& changes) {
  const std::vector<float> logits = logits_of(session, prediction, changes);
  return LogProbabilities::of_logits(logits)[prediction.token];
}

Prediction without_token(Prediction prediction, const ModelSession& session, Index place) {
  prediction.input.source.erase(prediction.input.source.begin() + place);
  // The rows of these are those of the source.
  const bool is_moved = session.kind() == ModelKind::language ||
                        (session.kind() == ModelKind::masked && place < prediction.row);
  if (is_moved) --prediction.row;
  return prediction;
}

nn::AttentionChanges without_token(const nn::AttentionChanges& changes, const ModelSession& session,
                                   Index place) {
  nn::AttentionChanges moved = changes;
  moved.links.clear();
  for (nn::AttentionChanges::ForbiddenLink link : changes.links) {
    const Site& site = session.site(link.layer);
    const bool has_query = site.queries == "source", has_key = site.keys == "source";
    if ((has_query && link.query == place) || (has_key && link.key == place)) continue;
    if (has_query && link.query > place) --link.query;
    if (has_key && link.key > place) --link.key;
    moved.links.push_back(std::move(link));
  }
  return moved;
}

}  // namespace heed::explore
