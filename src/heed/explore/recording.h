// One pass of a model over given tokens, with the attention and the hidden states of all layers.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heed/explore/head_facts.h"
#include "heed/explore/model_session.h"
#include "heed/nn/forward_context.h"
#include "heed/nn/interventions.h"

namespace heed::explore {

// Input of a pass.
struct PassInput {
  // As the model's own functions take it: with the end token, except for a language model.
  std::vector<int> source;
  // Of a translation: the decoder's input, the end token and then the output so far.
  std::vector<int> target;
  // The output after the last of these, where that is known: the end of a translation.
  std::optional<int> last = std::nullopt;
};

// The token after position `place` of the sequence that a model continues; none after the last
// unless that is known, and none for models that predict no next token.
std::optional<int> token_after(const ModelSession& session, const PassInput& input, Index place);

// The tokens in the rows of the encoder (or only stack): the source, with the begin token
// where a classifier puts one before it.
std::vector<int> tokens_seen(const ModelSession& session, const PassInput& input);

// The type of the token in row `place` of what tokens_seen gives: of the part of the text that it
// is in, for models with token types; otherwise 0.
int token_type(const ModelSession& session, const PassInput& input, Index place);

// Logits of all positions in one teacher-forced pass, with the same bits as step by step.
// Translation: logits [target, V]; language and masked: [source, V]; classifier: [1, classes]; an
// encoder without a head has none, and gives its pooled vector instead: [1, D].
// Builds the autograd graph unless the caller has a NoGrad. Refuses (ErrorKind::usage) images, and
// logits that are not finite, as finite_outcome.h says.
Tensor teacher_forced_logits(const ModelSession& session, const PassInput& input,
                             nn::ForwardContext& context);

// One attention layer's numbers, [H, queries, keys] each.
struct SiteView {
  Tensor scores;   // after the mask: minus infinity where masked
  Tensor weights;  // after the softmax
};

// Of one site, in a pass of its own.
SiteView site_view(const ModelSession& session, const PassInput& input,
                   const nn::Interventions& interventions, const std::string& site);

// What one row of the logits of a translation, a language model or a masked model predicts:
// token_after or, where there is none, the most likely token.
struct RowPrediction {
  int token = 0;
  double probability = 0;
};

class Recording {
 public:
  // The interventions, if any, are part of the recording.
  Recording(std::shared_ptr<const ModelSession> session, PassInput input,
            nn::Interventions interventions = {});

  const ModelSession& session() const { return *session_; }
  const std::shared_ptr<const ModelSession>& shared_session() const { return session_; }
  const PassInput& input() const { return input_; }
  const nn::Interventions& interventions() const { return interventions_; }
  // Of teacher_forced_logits. They are large and not kept: this is a pass of its own.
  Tensor logits() const;
  const std::vector<RowPrediction>& predictions() const { return predictions_; }
  const std::vector<HeadFact>& head_facts(const std::string& site) const;

  // Of one site. What did not fit into memory is recorded again, with the same bits. Refuses
  // (ErrorKind::usage) sites that the model does not have.
  SiteView view(const std::string& site) const;
  // Tensors of nn::Watcher's list that say where the words are: STACK.words, STACK.embedded,
  // BLOCK.after_..., STACK.final. Refuses others.
  const Tensor& stage(const std::string& name) const;
  bool has_stage(const std::string& name) const { return stages_.contains(name); }

  Index num_bytes() const;  // of the tensors that it keeps

 private:
  std::shared_ptr<const ModelSession> session_;
  PassInput input_;
  nn::Interventions interventions_;
  std::vector<RowPrediction> predictions_;
  std::map<std::string, std::vector<HeadFact>> facts_;
  std::map<std::string, SiteView> views_;
  std::map<std::string, Tensor> stages_;
};

}  // namespace heed::explore
