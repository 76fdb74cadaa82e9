// The default settings of decoding for a model: generation_config.json.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/base/choices.h"
#include "heed/base/index.h"
#include "heed/text/special_tokens.h"

namespace heed::models {

inline constexpr Index max_beam_size = 1000;
inline constexpr double max_length_penalty = 10;            // either way
inline constexpr Index max_output_length = Index{1} << 20;  // in tokens

// How a beam search ends. Heed's own: every translation ends with the end token, at the latest
// after max_length tokens. Hugging Face's transformers: max_length counts the end token, and what
// has no end by then competes as it is; see infer::BeamSearchOptions.
enum class SearchRules { heed, transformers };

// When a search by the rules of transformers is finished, once it has as many finished hypotheses
// as the beam: `yes` at once; `no` when the best live one would lose against the worst finished one
// if it ended now; `never` when it would lose at the most favourable length.
enum class EarlyStopping { no, yes, never };

// What changes the scores of the next token before one is chosen, in the order in which it applies.
// Lengths count the tokens so far: the prompt of a language model, or the token that starts a
// decoder, and those that were generated.
struct TokenRules {
  double repetition_penalty = 1;      // above 1: tokens so far become less likely
  Index no_repeat_ngram = 0;          // above 0: no n-gram of this many tokens occurs twice
  Index encoder_no_repeat_ngram = 0;  // above 0: none of the source, or of the prompt, occurs
  std::vector<std::vector<int>> bad_words = {};  // sequences that are never completed
  Index min_length = 0;                          // no end before so many tokens
  Index min_new_tokens = 0;                      // the same, without those of the prompt
  std::optional<int> forced_begin = {};          // the second token
  std::vector<int> forced_ends = {};             // one of these is the last before the limit
  std::vector<int> suppressed = {};              // tokens that never occur
  std::vector<int> begin_suppressed = {};        // tokens that are not generated first

  friend bool operator==(const TokenRules&, const TokenRules&) = default;
};

struct GenerationConfig {
  Index beam_size = 5;
  double length_penalty = 1;
  Index max_length = 0;  // in tokens; 0: the search derives it from the source's length

  // What the folder of another family's model can say beyond that. There, max_length counts the
  // tokens of the prompt, or the one that starts a decoder.
  SearchRules rules = SearchRules::heed;
  EarlyStopping early_stopping = EarlyStopping::no;
  Index num_groups = 1;
  double diversity_penalty = 0;
  Index max_new_tokens = 0;  // 0: max_length counts
  Index num_return_sequences = 1;
  TokenRules token_rules = {};
  bool do_sample = false;  // the next five are of no effect without it
  double temperature = 1;
  Index top_k = 50;  // 0: all
  double top_p = 1;
  double min_p = 0;
  // Ids that come before those of config.json.
  std::optional<int> pad = {};
  std::optional<int> begin = {};
  std::optional<int> decoder_start = {};
  std::optional<std::vector<int>> ends = {};
  std::string json = {};  // the file, where it is not one of Heed's own

  // A model's tokens with the ids above.
  text::SpecialTokens with_ids(text::SpecialTokens tokens) const;
  // The most tokens after a prompt of this many; 0: the file does not say.
  Index new_tokens(Index prompt_length) const;

  friend bool operator==(const GenerationConfig&, const GenerationConfig&) = default;
};

// The folder's file; without one, what config.json says about generation, if it is of another
// family; otherwise the defaults. Refuses (ErrorKind::model) settings that would change what is
// generated and do not exist here, by name.
GenerationConfig load_generation_config(const std::string& folder);
// Writes the file.
void save_generation_config(const std::string& folder, const GenerationConfig& generation);

}  // namespace heed::models

namespace heed {

template <>
std::span<const Choice<models::EarlyStopping>> choices();  // no, yes, never

}  // namespace heed
