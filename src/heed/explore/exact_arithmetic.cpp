#include "heed/explore/exact_arithmetic.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "heed/base/random.h"
#include "heed/kernels/attention.h"
#include "heed/kernels/elementwise.h"
#include "heed/kernels/gemm.h"

namespace heed::explore {
namespace {

// Of e^x in math-inl.h.
constexpr float log2_e = 1.44269504f;
constexpr float shifter = 12582912.0f + 127;
constexpr float ln2_high = 0.693145752f, ln2_low = 1.42860677e-6f;
constexpr float lowest = -87.33654f, highest = 88.72283f;
constexpr std::array<float, 7> coefficients = {
    0.0013814536f, 0.008368745f, 0.041668393f, 0.16666521f, 0.49999994f, 1.0f, 1.0f};

float sum_of_lanes(std::vector<float> lanes, LaneOrder order) {
  if (order == LaneOrder::in_turn) {
    float sum = 0;
    for (const float lane : lanes) sum += lane;
    return sum;
  }
  while (lanes.size() > 1) {
    const std::size_t half = lanes.size() / 2;
    for (std::size_t i = 0; i < half; ++i) {
      lanes[i] = order == LaneOrder::neighbours ? lanes[2 * i] + lanes[2 * i + 1]
                                                : lanes[i] + lanes[i + half];
    }
    lanes.resize(half);
  }
  return lanes.front();
}

float exp_near_zero(float rest) {
  float y = coefficients[0];
  for (std::size_t i = 1; i < coefficients.size(); ++i) y = multiply_add(y, rest, coefficients[i]);
  return y;
}

float rest_of_log2(float x, float n) {
  return multiply_add(-n, ln2_low, multiply_add(-n, ln2_high, x));
}

// As a kernel adds up one vector.
float kernel_sum(const std::vector<float>& lanes) {
  const std::vector<float> ones(lanes.size(), 1.0f);
  const auto width = static_cast<std::int64_t>(lanes.size());
  float sum = 0;
  kernels::attention_deltas({&sum, 1}, {lanes.data(), width}, {ones.data(), width}, 1, width);
  return sum;
}

LaneOrder find_lane_order(Index num_lanes) {
  constexpr int num_tries = 64;
  for (const LaneOrder order : {LaneOrder::halves, LaneOrder::neighbours, LaneOrder::in_turn}) {
    Rng rng(1);
    bool fits = true;
    for (int i = 0; i < num_tries && fits; ++i) {
      std::vector<float> lanes(num_lanes);
      for (float& lane : lanes) lane = static_cast<float>(rng.normal());
      fits = sum_of_lanes(lanes, order) == kernel_sum(lanes);
    }
    if (fits) return order;
  }
  return LaneOrder::unknown;
}

// (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24, whose last part is lost when the product is rounded.
bool find_whether_fused() {
  const float x = 1 + 0x1p-12f;
  float y = -(1 + 0x1p-11f);
  kernels::add_scaled(&y, &x, x, 1);
  return y != 0;
}

std::vector<float> squares_of(std::span<const float> x, float center = 0) {
  std::vector<float> squares;
  for (const float value : x) squares.push_back((value - center) * (value - center));
  return squares;
}

}  // namespace

const VectorFacts& vector_facts() {
  static const VectorFacts facts = [] {
    const Index lanes = kernels::gemm_panel_width() / 2;
    return VectorFacts{lanes, find_whether_fused(), find_lane_order(lanes)};
  }();
  return facts;
}

float multiply_add(float a, float b, float c) {
  return vector_facts().is_fused ? std::fma(a, b, c) : a * b + c;
}

float product_sum(std::span<const float> a, std::span<const float> b) {
  float total = 0;
  for (std::size_t begin = 0; begin < a.size(); begin += product_chain_length) {
    const std::size_t end = std::min(a.size(), begin + product_chain_length);
    float sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum = multiply_add(a[i], b[i], sum);
    total = begin == 0 ? sum : sum + total;
  }
  return total;
}

float lane_sum(std::span<const float> values) {
  std::vector<float> lanes(vector_facts().lanes, 0.0f);
  for (std::size_t i = 0; i < values.size(); ++i) lanes[i % lanes.size()] += values[i];
  return sum_of_lanes(std::move(lanes), vector_facts().lane_order);
}

ExpSteps exp_steps(float x) {
  ExpSteps steps;
  steps.shifted = multiply_add(x, log2_e, shifter);
  steps.n = steps.shifted - shifter;
  steps.rest = rest_of_log2(x, steps.n);
  steps.polynomial = exp_near_zero(steps.rest);
  steps.power = std::bit_cast<float>(std::bit_cast<std::uint32_t>(steps.shifted) << 23);
  steps.result = x < lowest ? 0.0f : steps.polynomial * steps.power;
  return steps;
}

std::vector<float> exp_constants() {
  std::vector<float> constants = {log2_e, shifter, ln2_high, ln2_low};
  constants.insert(constants.end(), coefficients.begin(), coefficients.end());
  constants.push_back(lowest);
  return constants;
}

SoftcapSteps softcap_steps(float score, float cap) {
  SoftcapSteps steps;
  steps.doubled = score * (1 / cap) * 2;
  const float x = std::clamp(steps.doubled, lowest, highest);
  steps.n = std::nearbyint(x * log2_e);
  steps.rest = rest_of_log2(x, steps.n);
  steps.polynomial = exp_near_zero(steps.rest);
  steps.exp = std::ldexp(steps.polynomial, static_cast<int>(steps.n));
  if (steps.doubled < lowest) steps.exp = 0;
  if (steps.doubled > highest) steps.exp = std::numeric_limits<float>::infinity();
  steps.tanh = 1 - 2 / (steps.exp + 1);
  steps.result = cap * steps.tanh;
  return steps;
}

std::vector<float> softcap_constants() {
  std::vector<float> constants = exp_constants();
  constants.push_back(highest);
  return constants;
}

NormSteps layer_norm_steps(std::span<const float> x, std::span<const float> gain,
                           std::span<const float> bias, float epsilon) {
  const auto width = static_cast<float>(x.size());
  NormSteps steps;
  steps.mean = lane_sum(x) / width;
  steps.squares = lane_sum(squares_of(x, steps.mean));
  steps.inverse = 1 / std::sqrt(steps.squares / width + epsilon);
  for (std::size_t i = 0; i < x.size(); ++i) {
    steps.result.push_back((x[i] - steps.mean) * steps.inverse * gain[i]);
    if (!bias.empty()) steps.result.back() += bias[i];
  }
  return steps;
}

NormSteps rms_norm_steps(std::span<const float> x, std::span<const float> gain, float epsilon) {
  NormSteps steps;
  steps.squares = lane_sum(squares_of(x));
  steps.inverse = 1 / std::sqrt(steps.squares / static_cast<float>(x.size()) + epsilon);
  for (std::size_t i = 0; i < x.size(); ++i) steps.result.push_back(x[i] * steps.inverse * gain[i]);
  return steps;
}

UnitSteps unit_steps(std::span<const float> x) {
  UnitSteps steps;
  steps.squares = lane_sum(squares_of(x));
  const float length = std::sqrt(steps.squares);
  steps.inverse = length == 0 ? 0 : 1 / length;
  for (const float value : x) steps.result.push_back(value * steps.inverse);
  return steps;
}

SoftmaxSteps softmax_steps(std::span<const float> scores) {
  constexpr float nothing = -std::numeric_limits<float>::infinity();
  SoftmaxSteps steps;
  steps.max = nothing;
  for (std::size_t first = 0; first < scores.size(); first += kernels::attention_key_block) {
    const auto block_scores = scores.subspan(
        first, std::min<std::size_t>(kernels::attention_key_block, scores.size() - first));
    const float now = std::max(steps.max, std::ranges::max(block_scores));
    if (now == nothing) continue;
    SoftmaxBlock block{.first = static_cast<Index>(first), .running_max = now, .rescale = 1};
    if (now != steps.max) block.rescale = steps.max == nothing ? 0 : std::exp(steps.max - now);
    if (now != steps.max) steps.sum *= block.rescale;
    for (const float score : block_scores) block.exps.push_back(exp_steps(score - now).result);
    steps.max = now;
    steps.sum += lane_sum(block.exps);
    block.sum = steps.sum;
    steps.blocks.push_back(std::move(block));
  }
  steps.inverse = 1 / steps.sum;
  return steps;
}

}  // namespace heed::explore
