#include "heed/infer/generation_options.h"

#include "heed/base/error.h"

namespace heed::infer {

using models::GenerationConfig;
using models::SearchRules;

BeamSearchOptions search_options(const GenerationConfig& generation,
                                 const models::TransformerConfig& config) {
  check_as(ErrorKind::model, !generation.do_sample,
           "generation_config.json: do_sample: expected false, for beam search, found true");
  BeamSearchOptions search{.beam_size = generation.beam_size,
                           .length_penalty = generation.length_penalty,
                           .max_length = generation.max_length};
  if (generation.rules == SearchRules::heed) return search;
  search.max_length = generation.new_tokens(/*prompt_length=*/1);
  search.n_best = generation.num_return_sequences;
  search.num_groups = generation.num_groups;
  search.diversity_penalty = generation.diversity_penalty;
  search.rules = generation.rules;
  search.early_stopping = generation.early_stopping;
  search.token_rules = generation.token_rules;
  search.tokens = generation.with_ids(config.tokens);
  return search;
}

SamplingOptions sampling_options(const GenerationConfig& generation) {
  if (generation.rules == SearchRules::heed) return {};
  return {.repetition_penalty = generation.token_rules.repetition_penalty,
          .no_repeat_ngram = generation.token_rules.no_repeat_ngram,
          .temperature = generation.temperature,
          .top_k = generation.top_k,
          .top_p = generation.top_p,
          .min_p = generation.min_p};
}

GenerationOptions generation_options(const GenerationConfig& generation,
                                     const models::TransformerConfig& config) {
  if (generation.rules == SearchRules::heed) return {};
  check_as(ErrorKind::model, !generation.do_sample || generation.beam_size == 1,
           "generation_config.json: num_beams: expected 1 with do_sample, found ",
           generation.beam_size);
  check_as(ErrorKind::model, generation.num_groups == 1,
           "generation_config.json: num_beam_groups: expected 1 for a language model, found ",
           generation.num_groups);
  GenerationOptions options{.sampling = sampling_options(generation),
                            .num_samples = generation.num_return_sequences,
                            .beam_size = generation.beam_size,
                            .length_penalty = generation.length_penalty,
                            .early_stopping = generation.early_stopping,
                            .rules = generation.rules,
                            .token_rules = generation.token_rules,
                            .tokens = generation.with_ids(config.tokens)};
  if (!generation.do_sample) options.sampling = as_greedy(options.sampling);
  if (generation.max_new_tokens > 0) {
    options.max_tokens = generation.max_new_tokens;
  } else if (generation.max_length > 0) {
    options.max_tokens = models::max_output_length;
    options.max_length = generation.max_length;
  }
  // These two are part of the sampling.
  options.token_rules.repetition_penalty = 1;
  options.token_rules.no_repeat_ngram = 0;
  return options;
}

}  // namespace heed::infer
