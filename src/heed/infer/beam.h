// The hypotheses of one sentence in a beam search, step by step. Knows log-probabilities, and
// nothing about the model.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "heed/infer/decoding.h"
#include "heed/infer/top_tokens.h"

namespace heed::infer {

// The tokens that may not come after these, rising, each once.
std::vector<int> never_after(const std::vector<int>& ids, const BeamSearchOptions& options,
                             const text::SpecialTokens& tokens);

struct Hypothesis {
  std::vector<int> ids;         // without the end token
  double score = 0;             // the sum of log-probabilities, the end token's included
  double normalised_score = 0;  // score / length^penalty, the end token counted
  std::vector<float> log_probabilities = {};  // of each token, the end token's last
  Index num_missing = 0;                      // required sequences that it does not hold
};

// The model's output after each live hypothesis of a sentence.
struct StepScores {
  std::span<const LogProbabilities> next;  // of the vocabulary
  // The weights of its attention to each token of the source; empty without coverage penalty.
  std::span<const std::vector<float>> attention;
};

// One token more for one of the live hypotheses.
struct BeamCandidate {
  enum class Fate { dropped, live, finished };

  double rank = 0;  // the score, less the diversity penalty
  TokenScore token = {};
  Index parent = 0;  // number of the hypothesis, before this step
  Fate fate = Fate::dropped;
  double normalised_score = 0;  // of a finished one, as in Hypothesis
};

// Observes the candidates of a beam search. It changes no result.
class BeamObserver {
 public:
  virtual ~BeamObserver() = default;
  // The candidates of one step, in the order in which the beam takes them: twice its size, if there
  // are so many. Those whose fate is `live` are the hypotheses of the next step, in this order,
  // unless this was the last.
  virtual void on_step(std::span<const BeamCandidate> candidates) = 0;
};

using TokenCounts = std::map<int, Index>;

// Hypotheses that grow side by side, and those that have ended.
//
// Required sequences use dynamic beam allocation (in the spirit of Post and Vilar 2018): besides
// the most likely tokens, those that start or continue a missing sequence are candidates.
// Candidates that hold equally many tokens of required sequences are one bank. The beam is filled
// in turns with the best of each bank, those that hold most first, so a beam larger than the number
// of all required tokens has room for every bank.
class Beam {
 public:
  // The options must outlive it.
  Beam(Index size, Index max_length, std::span<const int> prefix, const BeamSearchOptions& options,
       const text::SpecialTokens& tokens);

  Index num_live() const { return std::ssize(live_); }
  const std::vector<int>& ids(Index hypothesis) const { return live_[hypothesis].ids; }

  // Afterwards parents()[h] is the previous hypothesis that live hypothesis h continues.
  // Tokens that earlier groups have `taken` cost something; those taken here are added.
  void advance(const StepScores& step, TokenCounts& taken);
  const std::vector<Index>& parents() const { return parents_; }
  std::vector<Hypothesis> take_finished() { return std::move(finished_); }

 private:
  struct Growing {
    std::vector<int> ids;
    std::vector<float> log_probabilities;
    std::vector<double> coverage;  // attention so far; empty without coverage penalty
    double score = 0;
  };
  using Candidate = BeamCandidate;
  static bool is_better(const Candidate& a, const Candidate& b);

  std::vector<Candidate> best_candidates(const StepScores& step, const TokenCounts& taken) const;
  std::vector<TokenScore> next_tokens(const std::vector<int>& ids,
                                      const LogProbabilities& log_probabilities, Index count) const;
  void add_wanted(std::vector<TokenScore>& tokens, const std::vector<int>& ids,
                  const LogProbabilities& log_probabilities, std::span<const int> never) const;
  std::vector<Candidate> in_turns_of_banks(std::vector<Candidate> candidates) const;
  void count_taken(TokenCounts& taken) const;
  void split(std::vector<Candidate>& candidates, const StepScores& step);
  Growing extend(const Candidate& candidate, const StepScores& step) const;
  Hypothesis finished(Growing ended) const;
  bool keep_finished(Hypothesis hypothesis);
  double normalise(double score, Index length) const;
  double coverage_score(const std::vector<double>& coverage) const;
  bool is_over(double best_score);
  bool cannot_improve() const;
  bool is_full_of_better(double best_score) const;
  bool is_by_transformers() const { return options_.rules == models::SearchRules::transformers; }
  Index num_finished() const { return std::ssize(finished_); }

  const BeamSearchOptions& options_;
  text::SpecialTokens tokens_;
  Index size_;
  Index max_length_;
  std::vector<int> prefix_;
  Index length_ = 0;  // tokens of every live hypothesis
  std::vector<Growing> live_;
  std::vector<Index> parents_;
  std::vector<Hypothesis> finished_;
};

// All groups of one sentence. Its live hypotheses are those of the groups, one group after another.
class SentenceBeams {
 public:
  // Hypotheses start with the prefix. The options must outlive it.
  SentenceBeams(Index max_length, std::span<const int> prefix, const BeamSearchOptions& options,
                const text::SpecialTokens& tokens);

  Index num_live() const;
  bool is_finished() const { return num_live() == 0; }
  std::vector<std::vector<int>> live_ids() const;  // of each live hypothesis

  void advance(const StepScores& step);
  // As Beam::parents, for all live hypotheses.
  const std::vector<Index>& parents() const { return parents_; }

  // The n best, best first. Of hypotheses with equal tokens, which groups can have, one is kept.
  std::vector<Hypothesis> take_best();

 private:
  const BeamSearchOptions& options_;
  std::vector<Beam> groups_;
  std::vector<Index> parents_;
};

}  // namespace heed::infer
