// Beam search: the most likely translations of a batch of sentences, or continuations of prompts.
#pragma once

#include <span>
#include <vector>

#include "heed/infer/beam.h"
#include "heed/models/language_model.h"
#include "heed/models/translation_model.h"

namespace heed::infer {

// Twice the source and some, within reason.
Index default_max_length(Index source_length);
// That of the options, within the model's learned positions. By Heed's own rules the last one is
// for the end token.
Index max_length(Index source_length, const BeamSearchOptions& options,
                 const models::TransformerConfig& config);

// Those of the options or, if there are none, of the model.
text::SpecialTokens special_tokens(const BeamSearchOptions& options,
                                   const models::TransformerConfig& config);

// Refuses invalid options, and prefixes that do not fit the sources or the model.
void check_search(const BeamSearchOptions& options, std::span<const std::vector<int>> prefixes,
                  Index num_sources, const models::TransformerConfig& config);

// For each source, up to n_best hypotheses, best first; at least one, and each of at least one
// token. Sources end with the end token. Ties go to the lower token, then to the better parent. The
// result for one source has the same bits whatever the others are.
//
// A hypothesis is finished when it ends among the beam_size best candidates of its step; a sentence
// is finished when beam_size hypotheses are, or when no live one can become one of
// the n best. With groups each of them is a beam of its own, with its share of beam_size.
//
// Prefixes, if any, are one for each source: its hypotheses start with these tokens, whose
// log-probabilities are part of the score. max_length grows to a longer prefix. Refuses
// (ErrorKind::data) a prefix beyond the model's learned positions.
std::vector<std::vector<Hypothesis>> beam_search(const models::TranslationModel& model,
                                                 const models::PackedIds& sources,
                                                 const BeamSearchOptions& options = {},
                                                 std::span<const std::vector<int>> prefixes = {});

// The same after each prompt, by the rules of transformers alone. limits[p]: the most tokens after
// prompt p; fewer where the model has no positions for as many.
std::vector<std::vector<Hypothesis>> beam_search(const models::LanguageModel& model,
                                                 const models::PackedIds& prompts,
                                                 const BeamSearchOptions& options,
                                                 std::span<const Index> limits);

}  // namespace heed::infer
