// Weights that are not finite are refused wherever a model is read or written: they would come back
// as fluent answers, or as none, without a word.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "heed/base/index.h"
#include "heed/nn/module.h"

namespace heed::models {

// The place of the first infinity or NaN. In parallel; the result does not depend on the threads.
std::optional<Index> first_not_finite(std::span<const float> values);
// Of halves, given the bits of the exponent: float16_exponent or bfloat16_exponent.
inline constexpr std::uint16_t float16_exponent = 0x7c00, bfloat16_exponent = 0x7f80;
std::optional<Index> first_not_finite(std::span<const std::uint16_t> halves,
                                      std::uint16_t exponent);

// Refuses (ErrorKind::model): "FILE: NAME[7]: expected a finite weight, found nan".
[[noreturn]] void fail_not_finite(float value, Index place, const std::string& name,
                                  const std::string& file);
// `offset`: of the first of the values in the tensor.
void check_finite(std::span<const float> values, const std::string& name, const std::string& file,
                  Index offset = 0);
void check_finite(std::span<const nn::NamedTensor> parameters, const std::string& file);

}  // namespace heed::models
