// The arithmetic of a cell done again from its JSON alone, in plain code: what a reader of the page
// can do by hand.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "explore/small_folders.h"
#include "heed/explore/cell_arithmetic.h"
#include "heed/explore/run.h"

namespace heed::explore {

using nlohmann::json;
using Floats = std::vector<float>;

// One step of a cell, read from its JSON alone, and done again in the order of its arithmetic, in
// plain code.
class Step {
 public:
  Step(json step, json arithmetic) : step_(std::move(step)), arithmetic_(std::move(arithmetic)) {}

  std::string id() const { return step_["id"]; }
  bool is_fused() const { return arithmetic_["is_fused"]; }
  std::size_t key_block() const { return arithmetic_["key_block"]; }
  Floats row(const std::string& name) const {
    for (const json& one : step_["rows"]) {
      if (one["name"] == name) return floats_of(one["values"]);
    }
    ADD_FAILURE() << id() << " has no row " << name;
    return {};
  }
  bool has_row(const std::string& name) const {
    return std::ranges::any_of(step_["rows"], [&](const json& one) { return one["name"] == name; });
  }
  float number(const std::string& name) const { return row(name).at(0); }
  Floats result() const {
    return step_["result"].is_array() ? floats_of(step_["result"])
                                      : Floats{float_of(step_["result"])};
  }

  // s = 0; s = fma(a_i, b_i, s), or in chains.
  float product_sum(const Floats& a, const Floats& b) const {
    const std::size_t length = arithmetic_["chain"];
    float total = 0;
    for (std::size_t begin = 0; begin < a.size(); begin += length) {
      float sum = 0;
      for (std::size_t i = begin; i < std::min(a.size(), begin + length); ++i) {
        sum = is_fused() ? std::fma(a[i], b[i], sum) : a[i] * b[i] + sum;
      }
      total = begin == 0 ? sum : total + sum;
    }
    return total;
  }

  // A sum per lane, then the lanes.
  float sum(const Floats& values) const {
    Floats sums(arithmetic_["lanes"].get<std::size_t>(), 0.0f);
    for (std::size_t i = 0; i < values.size(); ++i) sums[i % sums.size()] += values[i];
    if (arithmetic_["lane_order"] == "in turn") {
      float total = 0;
      for (const float part : sums) total += part;
      return total;
    }
    const bool in_halves = arithmetic_["lane_order"] == "halves";
    while (sums.size() > 1) {
      const std::size_t half = sums.size() / 2;
      for (std::size_t j = 0; j < half; ++j) {
        sums[j] = in_halves ? sums[j] + sums[j + half] : sums[2 * j] + sums[2 * j + 1];
      }
      sums.resize(half);
    }
    return sums[0];
  }

  float exp_by(const Floats& c, float x) const {
    const auto fma = [&](float a, float b, float d) {
      return is_fused() ? std::fma(a, b, d) : a * b + d;
    };
    const float t = fma(x, c[0], c[1]), n = t - c[1];
    return x < c[11] ? 0.0f : near_zero(c, x, n) * std::ldexp(1.0f, static_cast<int>(n));
  }
  // e^(x - n ln 2)
  float near_zero(const Floats& c, float x, float n) const {
    const auto fma = [&](float a, float b, float d) {
      return is_fused() ? std::fma(a, b, d) : a * b + d;
    };
    const float r = fma(-n, c[3], fma(-n, c[2], x));
    float y = c[4];
    for (int i = 5; i <= 10; ++i) y = fma(y, r, c[i]);
    return y;
  }

 private:
  static float float_of(const json& value) {
    return value.is_null() ? -std::numeric_limits<float>::infinity() : value.get<float>();
  }
  static Floats floats_of(const json& values) {
    Floats floats;
    for (const json& value : values) floats.push_back(float_of(value));
    return floats;
  }

  json step_, arithmetic_;
};

inline void expect_bits(const Floats& expected, const Floats& found, const std::string& what) {
  ASSERT_EQ(expected.size(), found.size()) << what;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(expected[i]), std::bit_cast<std::uint32_t>(found[i]))
        << what << ", number " << i << ": " << expected[i] << " and " << found[i];
  }
}

inline Floats redone_norm(const Step& step) {
  const Floats x = step.row("x"), gain = step.row("gain");
  const auto width = static_cast<float>(x.size());
  const bool has_mean = step.has_row("mean");
  const float mean = has_mean ? step.sum(x) / width : 0;
  Floats squares, y;
  for (const float value : x) squares.push_back((value - mean) * (value - mean));
  const float inverse = 1 / std::sqrt(step.sum(squares) / width + step.number("epsilon"));
  for (std::size_t i = 0; i < x.size(); ++i) {
    y.push_back((x[i] - mean) * inverse * gain[i]);
    if (step.has_row("bias")) y.back() += step.row("bias")[i];
  }
  return y;
}

inline Floats redone_projection(const Step& step) {
  const Floats x = step.row("x"), bias = step.has_row("bias") ? step.row("bias") : Floats{};
  Floats y;
  for (std::size_t c = 0; step.has_row("W row " + std::to_string(c)); ++c) {
    y.push_back(step.product_sum(x, step.row("W row " + std::to_string(c))));
    if (!bias.empty()) y.back() += bias[c];
  }
  return y;
}

inline Floats redone_rotation(const Step& step) {
  const Floats x = step.has_row("q") ? step.row("q") : step.row("k");
  const Floats cos = step.row("cos"), sin = step.row("sin");
  const std::size_t half = cos.size();
  Floats y = x;
  for (std::size_t i = 0; i < half; ++i) {
    y[i] = x[i] * cos[i] - x[i + half] * sin[i];
    y[i + half] = x[i] * sin[i] + x[i + half] * cos[i];
  }
  return y;
}

inline Floats added(const Floats& a, const Floats& b) {
  Floats sum;
  for (std::size_t i = 0; i < a.size(); ++i) sum.push_back(a[i] + b[i]);
  return sum;
}

inline Floats multiplied(const Floats& a, float factor) {
  Floats product;
  for (const float value : a) product.push_back(value * factor);
  return product;
}

inline Floats redone_unit(const Step& step) {
  Floats squares;
  for (const float value : step.row("v")) squares.push_back(value * value);
  return multiplied(step.row("v"), 1 / std::sqrt(step.sum(squares)));
}

inline Floats redone_output_share(const Step& step) {
  Floats y;
  for (std::size_t o = 0; step.has_row("W row " + std::to_string(o)); ++o) {
    y.push_back(step.product_sum(step.row("w v"), step.row("W row " + std::to_string(o))));
  }
  return y;
}

// The row's exponentials need the constants of the step before.
inline float redone_row_sum(const Step& step, const Floats& constants) {
  const Floats scores = step.row("scores");
  const std::size_t block_length = step.key_block();
  float running_max = -std::numeric_limits<float>::infinity(), sum = 0;
  for (std::size_t first = 0; first < scores.size(); first += block_length) {
    const std::size_t end = std::min(scores.size(), first + block_length);
    const float now =
        std::max(running_max, *std::max_element(scores.begin() + first, scores.begin() + end));
    if (now == -std::numeric_limits<float>::infinity()) continue;
    if (now != running_max && first > 0) sum *= std::exp(running_max - now);
    running_max = now;
    Floats exps;
    for (std::size_t j = first; j < end; ++j) {
      const bool is_masked = std::isinf(scores[j]);
      exps.push_back(is_masked ? 0 : step.exp_by(constants, scores[j] - running_max));
    }
    sum += step.sum(exps);
  }
  return sum;
}

// cap * tanh(s / cap), tanh x = 1 - 2 / (e^2x + 1).
inline float redone_softcap(const Step& step) {
  const Floats c = step.row("constants");
  const float x = std::clamp(step.number("s") * (1 / step.number("cap")) * 2, c[11], c[12]);
  const float n = std::nearbyint(x * c[0]);
  const float e = std::ldexp(step.near_zero(c, x, n), static_cast<int>(n));
  return step.number("cap") * (1 - 2 / (e + 1));
}

// Does every step of a cell again from its numbers.
inline void expect_redone(const json& cell) {
  Floats constants;
  for (const json& one : cell["steps"]) {
    const Step step(one, cell["arithmetic"]);
    const std::string id = step.id();
    SCOPED_TRACE(id + " " + one["side"].get<std::string>());
    if (id == "embedding") {
      expect_bits(step.result(), multiplied(step.row("E"), step.number("scale")), id);
    } else if (id == "position" && step.has_row("p")) {
      expect_bits(step.result(), added(step.row("e"), step.row("p")), id);
    } else if (id == "token_type") {
      expect_bits(step.result(), added(step.row("e"), step.row("t")), id);
    } else if (id == "position") {
      expect_bits(step.result(), redone_rotation(step), id);
    } else if (id == "norm" || id == "embedding_norm" || id == "head_norm") {
      expect_bits(step.result(), redone_norm(step), id);
    } else if (id == "query" || id == "key" || id == "value" || id == "embedding_projection") {
      expect_bits(step.result(), redone_projection(step), id);
    } else if (id == "unit") {
      expect_bits(step.result(), redone_unit(step), id);
    } else if (id == "product") {
      const Floats q = step.row("q"), k = step.row("k"), products = step.result();
      for (std::size_t i = 0; i < q.size(); ++i) EXPECT_EQ(products[i], q[i] * k[i]);
    } else if (id == "sum") {
      expect_bits(step.result(), {step.product_sum(step.row("q"), step.row("k"))}, id);
    } else if (id == "scale") {
      expect_bits(step.result(), {step.number("s") * step.number("scale")}, id);
    } else if (id == "mask" && step.has_row("slope") && std::isfinite(step.result()[0])) {
      expect_bits(step.result(),
                  {step.number("s") - step.number("slope") * step.number("distance")}, id);
    } else if (id == "softcap") {
      expect_bits(step.result(), {redone_softcap(step)}, id);
    } else if (id == "mask" && step.has_row("bias") && std::isfinite(step.result()[0])) {
      expect_bits(step.result(), {step.number("s") + step.number("bias")}, id);
    } else if (id == "mask" && std::isfinite(step.result()[0])) {
      expect_bits(step.result(), step.row("s"), id);
    } else if (id == "max") {
      EXPECT_EQ(step.result()[0], std::ranges::max(step.row("scores")));
    } else if (id == "exp") {
      constants = step.row("constants");
      expect_bits(step.result(), {step.exp_by(constants, step.number("s") - step.number("M"))}, id);
    } else if (id == "row_sum") {
      expect_bits(step.result(), {redone_row_sum(step, constants)}, id);
    } else if (id == "weight" && step.has_row("e")) {
      expect_bits(step.result(), {step.number("e") * (1 / step.number("sum"))}, id);
    } else if (id == "weighted_value") {
      expect_bits(step.result(), multiplied(step.row("v"), step.number("w")), id);
    } else if (id == "output_share") {
      expect_bits(step.result(), redone_output_share(step), id);
    }
  }
}

// From one step to the next nothing is lost: what comes out of one goes into the next.
inline void expect_joined(const json& cell) {
  const auto step = [&](const std::string& id, const std::string& side = "") {
    json found;
    for (const json& one : cell["steps"]) {
      if (one["id"] == id && one["side"] == side) found = one;  // the last: rotated, if it is
    }
    return Step(found, cell["arithmetic"]);
  };
  EXPECT_EQ(step("sum").result()[0], step("scale").number("s"));
  const auto has_step = [&](const std::string& id) {
    return std::ranges::any_of(cell["steps"], [&](const json& one) { return one["id"] == id; });
  };
  const std::string before_mask = has_step("softcap") ? "softcap" : "scale";
  EXPECT_EQ(step(before_mask).result()[0], step("mask").number("s"));
  EXPECT_EQ(step("exp").result()[0], step("weight").number("e"));
  EXPECT_EQ(step("row_sum").result()[0], step("weight").number("sum"));
  EXPECT_EQ(step("weight").result()[0], step("weighted_value").number("w"));
  EXPECT_EQ(step("value", "key").result(), step("weighted_value").row("v"));
  EXPECT_EQ(step("weighted_value").result(), step("output_share").row("w v"));
}

inline json cell_of(const Recording& recording, const CellPlace& place) {
  return json::parse(to_json(cell_arithmetic(recording, place)).dump());
}

inline json result_of(const json& cell, const std::string& id) {
  for (const json& step : cell["steps"]) {
    if (step["id"] == id) return step["result"];
  }
  ADD_FAILURE() << "no step " << id;
  return nullptr;
}

// Three cells of each layer of a recording.
inline void expect_cells_redone(const Recording& recording) {
  for (const Site& site : recording.session().sites()) {
    const Tensor weights = recording.view(site.name).weights;
    const Index queries = weights.dim(1), keys = weights.dim(2);
    for (const CellPlace& place :
         {CellPlace{site.name, 0, queries - 1, 0}, CellPlace{site.name, site.heads - 1, 1, 1},
          CellPlace{site.name, 1, 0, keys - 1}}) {
      SCOPED_TRACE(site.name + " " + std::to_string(place.query) + " " + std::to_string(place.key));
      const json cell = cell_of(recording, place);
      EXPECT_EQ(cell["exact"], true);
      expect_redone(cell);
      expect_joined(cell);
      const float weight =
          weights.values()[(place.head * queries + place.query) * keys + place.key];
      EXPECT_EQ(result_of(cell, "weight").get<float>(), weight);
    }
  }
}

inline void expect_cells_redone(const models::TransformerConfig& config, const std::string& text) {
  SCOPED_TRACE(models::to_json(config));
  const SmallFolder folder(config);
  ExplorerState state = folder.state();
  expect_cells_redone(state.traces.find(run(state, text)["trace"])->recording);
}

}  // namespace heed::explore
