// The options of decoding, by beam search and by sampling, and the score of a token.
#pragma once

#include <optional>

#include "heed/base/index.h"
#include "heed/infer/constraints.h"
#include "heed/models/generation_config.h"
#include "heed/text/special_tokens.h"

namespace heed::nn {
class AttentionHook;
}

namespace heed::infer {

class BeamObserver;

struct TokenScore {
  int token = 0;
  float log_probability = 0;
};

inline constexpr double largest_score_penalty = 1000;  // of diversity and coverage

// Numbers beyond this bound, models::max_beam_size and models::max_length_penalty are refused
// (ErrorKind::usage).
struct BeamSearchOptions {
  Index beam_size = 5;        // hypotheses kept at each step; 1 is greedy search
  double length_penalty = 1;  // hypotheses compete by score / length^penalty
  Index max_length = 0;       // in tokens, the end token not counted; 0: twice the source and some
  Index n_best = 1;           // hypotheses returned, at most beam_size
  bool allow_unknown = true;  // may the unknown token be generated?

  // Diverse beams (Vijayakumar and others 2016): so many groups of beam_size / num_groups
  // hypotheses are searched side by side. In each step the groups choose one after another, and a
  // token costs the penalty for each hypothesis of an earlier group that has just taken it. The
  // penalty decides what is kept; it is no part of a hypothesis's score.
  Index num_groups = 1;
  double diversity_penalty = 0.5;

  // Above 0: finished hypotheses that attend to too little of the source lose (Wu and others 2016,
  // section 7). coverage_penalty * sum_i log(min(c_i, 1)) is added to score / length^penalty, where
  // c_i is the attention, summed over the steps, that source token i got from the decoder's last
  // layer, mean over heads. The end token of the source does not count.
  double coverage_penalty = 0;

  // A forbidden sequence is never completed, except by a prefix. With required ones a hypothesis
  // ends only when it holds all of them, or at max_length; one that holds more of them wins.
  Constraints constraints = {};

  // By the rules of transformers a search differs in this: max_length counts the end token, which
  // need not come there; hypotheses without an end compete as they are. A finished hypothesis takes
  // the place of the worst where beam_size are there. The penalty of groups is part of the score,
  // and equal hypotheses of two groups are both kept. Nothing is forbidden that token_rules allow:
  // no special token, and no hypothesis that is empty.
  models::SearchRules rules = models::SearchRules::heed;
  models::EarlyStopping early_stopping = models::EarlyStopping::no;  // by those of transformers
  // Change the log-probabilities before tokens are chosen, and the logits where beam_size is 1.
  models::TokenRules token_rules = {};
  std::optional<text::SpecialTokens> tokens = {};  // not given: those of the model's configuration

  // Intervenes in the model's attention; null: the model as it is.
  const nn::AttentionHook* hook = nullptr;
  // Called at every step if it is not null. For one source and one group at a time.
  BeamObserver* observer = nullptr;
};

// Sampling: applied in this order. The defaults leave the model's own distribution as it is.
struct SamplingOptions {
  double repetition_penalty = 1;  // above 1: tokens of the text so far become less likely
  Index no_repeat_ngram = 0;      // above 0: no n-gram of this many tokens occurs twice
  double temperature = 1;         // divides the logits; 0: always the most likely token
  Index top_k = 0;                // keep the k most likely tokens; 0: all
  double top_p = 1;  // keep the most likely tokens whose probabilities sum to this share
  double min_p = 0;  // keep tokens with at least this share of the most likely one's probability
};

// Refuses (ErrorKind::usage) values out of range.
void validate(const SamplingOptions& options);

// The same penalties, and always the most likely token.
SamplingOptions as_greedy(const SamplingOptions& options);

}  // namespace heed::infer
