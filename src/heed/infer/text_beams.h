// Beam search for texts: the most likely continuations of prompts.
#pragma once

#include <span>
#include <vector>

#include "heed/infer/text_generator.h"

namespace heed::infer {

// num_samples texts for each prompt, best first, where limits[p] is the most tokens of a text of
// prompt p. A text ends before the first of options.stop, which the search does not look for.
std::vector<GeneratedText> beam_texts(const TextGenerator& generator,
                                      std::span<const std::vector<int>> prompts,
                                      std::span<const Index> limits,
                                      const GenerationOptions& options);

}  // namespace heed::infer
