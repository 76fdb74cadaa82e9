// Conversion of a model folder to another format of weights.
#pragma once

#include <cstdint>
#include <string>

#include "heed/models/transformer_config.h"

namespace heed::models {

struct ConvertedSizes {
  std::int64_t before = 0, after = 0;  // of model.safetensors, in bytes
};

// Writes the model in folder `from` to a new or empty folder `to`: all of it, or on Error nothing.
// Refuses a `to` that holds anything, and converts int8 and int4 to nothing but f32: rounding twice
// would add up the errors.
// `adapter`: the path of a LoRA adapter that is merged first, Heed's file or PEFT's folder, or
// empty.
ConvertedSizes convert_weights(const std::string& from, const std::string& to, WeightFormat format,
                               const std::string& adapter = {});

}  // namespace heed::models
