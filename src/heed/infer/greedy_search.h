// Greedy search: the most likely token, then the most likely one after it, and so on.
#pragma once

#include <span>
#include <vector>

#include "heed/infer/beam.h"
#include "heed/models/translation_model.h"
#include "heed/ops/argmax_projection.h"

namespace heed::infer {

// Can greedy search do what these options ask for?
bool is_greedy(const BeamSearchOptions& options);

// For each source the tokens, without the end token, that beam_search finds with the same greedy
// options and prefixes. There are no scores: a probability needs the logits of all tokens, and
// `projection`, which is model.argmax_projection(), seldom computes them.
std::vector<std::vector<int>> greedy_search(const models::TranslationModel& model,
                                            const ops::ArgmaxProjection& projection,
                                            const models::PackedIds& sources,
                                            const BeamSearchOptions& options,
                                            std::span<const std::vector<int>> prefixes = {});

}  // namespace heed::infer
