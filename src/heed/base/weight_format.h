// Number formats of weights.
#pragma once

namespace heed {

// f16, bf16: half floats. int8: an integer times a scale, one for each row. int4: the same with a
// scale for every 32 numbers of a row.
enum class WeightFormat { f32, f16, bf16, int8, int4 };

}  // namespace heed
