// One prediction of a model: the pass that leads to it, and where in the pass it stands.
#pragma once

#include <optional>

#include "heed/explore/recording.h"

namespace heed::explore {

struct PredictionTarget {
  // Translation: the position of the decoder that predicts. Language: the position of the source.
  // Masked: the number of the mask. Classifier: the class. Tagger: the position of the source.
  Index place = 0;
  // The predicted token or tag. Without one: the token after the place in the input or, where there
  // is none and for masked models and taggers, the most likely one. Not for classifiers.
  std::optional<Index> token = std::nullopt;
};

struct Prediction {
  PassInput input;  // without what comes after the prediction
  Index row = 0;    // of the logits
  int token = 0;    // the column: a token, a class or a tag
};

// Refuses (ErrorKind::usage) a place or a token that is not there.
Prediction prediction_of(const ModelSession& session, const PassInput& input,
                         const nn::Interventions& interventions, const PredictionTarget& target);

double log_probability(const ModelSession& session, const Prediction& prediction,
                       const nn::Interventions& interventions);

// The same prediction when the source lacks its token number `place`; later ones move up.
Prediction without_token(Prediction prediction, const ModelSession& session, Index place);
// The interventions for that source: knockouts of the token go, those of later ones move up.
// `place` is counted in what the model sees (tokens_seen).
nn::Interventions without_token(const nn::Interventions& interventions, const ModelSession& session,
                                Index place);

}  // namespace heed::explore
