// The options of decoding that a model's generation_config.json asks for.
#pragma once

#include "heed/infer/decoding.h"
#include "heed/infer/text_generator.h"
#include "heed/models/generation_config.h"
#include "heed/models/transformer_config.h"

namespace heed::infer {

// Of a translation model. Refuses (ErrorKind::model) settings that ask for sampling.
BeamSearchOptions search_options(const models::GenerationConfig& generation,
                                 const models::TransformerConfig& config);

// Of a language model. Refuses (ErrorKind::model) settings that ask for sampling with beams.
GenerationOptions generation_options(const models::GenerationConfig& generation,
                                     const models::TransformerConfig& config);

// The sampling that the settings ask for, whether it is the default or not.
SamplingOptions sampling_options(const models::GenerationConfig& generation);

}  // namespace heed::infer
