// The engine's arithmetic in plain scalar code and in the engine's own order, so that a number can
// be computed again by hand with the same bits.
#pragma once

#include <span>
#include <vector>

#include "heed/base/index.h"

namespace heed::explore {

// The order in which the lanes of a vector are added up: those that are half a vector apart, then a
// quarter ...; neighbours in pairs; one after another.
enum class LaneOrder { halves, neighbours, in_turn, unknown };

// Facts of the processor that the kernels' sums depend on.
struct VectorFacts {
  Index lanes = 1;        // floats of one vector
  bool is_fused = false;  // a * b + c is rounded once
  LaneOrder lane_order = LaneOrder::unknown;
};

// Of the processor that runs this, measured by letting the kernels add up numbers.
const VectorFacts& vector_facts();

// a * b + c as the kernels do it.
float multiply_add(float a, float b, float c);

// Matrix products add up chains of this many products, one after another, and then the chains: KC
// of kernels/gemm-inl.h.
inline constexpr Index product_chain_length = 256;

// sum of a_i b_i as matrix products compute it: each chain from 0 on, s = a_i b_i + s.
float product_sum(std::span<const float> a, std::span<const float> b);

// The sum of a row, as norms and the softmax compute it: one sum per lane, element i in lane
// i % lanes, then the lanes in their order.
float lane_sum(std::span<const float> values);

// e^x for x <= 0, as the softmax does it.
struct ExpSteps {
  float shifted = 0;     // x log2(e) and the shifter, whose lowest bits are n + 127
  float n = 0;           // x log2(e) to the nearest whole number
  float rest = 0;        // x - n ln 2
  float polynomial = 0;  // e^rest
  float power = 0;       // 2^n
  float result = 0;
};
ExpSteps exp_steps(float x);
// log2(e), the shifter, ln 2 in two parts, the coefficients from the highest on, the lowest x.
std::vector<float> exp_constants();

// cap * tanh(score / cap), as the engine caps scores: tanh x = 1 - 2 / (e^2x + 1).
struct SoftcapSteps {
  float doubled = 0;  // 2x, whose exponential is taken
  float n = 0;        // 2x log2(e) to the nearest whole number
  float rest = 0;     // 2x - n ln 2
  float polynomial = 0;
  float exp = 0;   // e^2x
  float tanh = 0;  // of x
  float result = 0;
};
SoftcapSteps softcap_steps(float score, float cap);
// exp_constants() and the largest 2x; larger ones have an infinite exponential.
std::vector<float> softcap_constants();

// (x - mean) / sqrt(variance + epsilon) * gain + bias; without a bias, x / sqrt(mean square +
// epsilon) * gain.
struct NormSteps {
  float mean = 0;
  float squares = 0;  // their sum
  float inverse = 0;  // 1 / sqrt(squares / width + epsilon)
  std::vector<float> result;
};
NormSteps layer_norm_steps(std::span<const float> x, std::span<const float> gain,
                           std::span<const float> bias, float epsilon);
NormSteps rms_norm_steps(std::span<const float> x, std::span<const float> gain, float epsilon);

// A vector divided by its length; zeros stay zeros.
struct UnitSteps {
  float squares = 0;
  float inverse = 0;
  std::vector<float> result;
};
UnitSteps unit_steps(std::span<const float> x);

// Online softmax of a row, in blocks of kernels::attention_key_block keys.
struct SoftmaxBlock {
  Index first = 0;               // of its keys
  float running_max = 0;         // the largest score so far
  float rescale = 0;             // of the sum so far: e^(running max before - running max)
  std::vector<float> exps = {};  // e^(score - running max)
  float sum = 0;                 // running, over all scores so far
};
struct SoftmaxSteps {
  std::vector<SoftmaxBlock> blocks;
  float max = 0;
  float sum = 0;
  float inverse = 0;
};
// Scores are minus infinity where masked; at least one is not.
SoftmaxSteps softmax_steps(std::span<const float> scores);

}  // namespace heed::explore
