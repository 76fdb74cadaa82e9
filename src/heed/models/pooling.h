// From the vectors of a sequence to one.
#pragma once

#include "heed/core/spans.h"
#include "heed/models/transformer_config.h"

namespace heed::models {

// An encoder's output, S sequences [N, D] -> [S, D]. Attention has a learned query [1, D]. Refuses
// an empty sequence.
Tensor pool(const Packed& encoded, Pooling pooling, const Tensor& query = {});

}  // namespace heed::models
