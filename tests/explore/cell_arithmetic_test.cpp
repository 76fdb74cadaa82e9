#include "heed/explore/cell_arithmetic.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>

#include "explore/small_folders.h"
#include "heed/explore/run.h"
#include "support/expect_error.h"

namespace heed::explore {
namespace {

using models::ModelKind;
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
    const float r = fma(-n, c[3], fma(-n, c[2], x));
    float y = c[4];
    for (int i = 5; i <= 10; ++i) y = fma(y, r, c[i]);
    return x < c[11] ? 0.0f : y * std::ldexp(1.0f, static_cast<int>(n));
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

void expect_bits(const Floats& expected, const Floats& found, const std::string& what) {
  ASSERT_EQ(expected.size(), found.size()) << what;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(expected[i]), std::bit_cast<std::uint32_t>(found[i]))
        << what << ", number " << i << ": " << expected[i] << " and " << found[i];
  }
}

Floats redone_norm(const Step& step) {
  const Floats x = step.row("x"), gain = step.row("gain");
  const auto width = static_cast<float>(x.size());
  const bool has_mean = step.has_row("mean");
  const float mean = has_mean ? step.sum(x) / width : 0;
  Floats squares, y;
  for (const float value : x) squares.push_back((value - mean) * (value - mean));
  const float inverse = 1 / std::sqrt(step.sum(squares) / width + step.number("epsilon"));
  for (std::size_t i = 0; i < x.size(); ++i) {
    y.push_back((x[i] - mean) * inverse * gain[i]);
    if (has_mean) y.back() += step.row("bias")[i];
  }
  return y;
}

Floats redone_projection(const Step& step) {
  const Floats x = step.row("x"), bias = step.row("bias");
  Floats y;
  for (std::size_t c = 0; c < bias.size(); ++c) {
    y.push_back(step.product_sum(x, step.row("W row " + std::to_string(c))) + bias[c]);
  }
  return y;
}

Floats redone_rotation(const Step& step) {
  const Floats x = step.has_row("q") ? step.row("q") : step.row("k");
  const Floats cos = step.row("cos"), sin = step.row("sin");
  const std::size_t half = cos.size();
  Floats y(2 * half);
  for (std::size_t i = 0; i < half; ++i) {
    y[i] = x[i] * cos[i] - x[i + half] * sin[i];
    y[i + half] = x[i] * sin[i] + x[i + half] * cos[i];
  }
  return y;
}

Floats added(const Floats& a, const Floats& b) {
  Floats sum;
  for (std::size_t i = 0; i < a.size(); ++i) sum.push_back(a[i] + b[i]);
  return sum;
}

Floats multiplied(const Floats& a, float factor) {
  Floats product;
  for (const float value : a) product.push_back(value * factor);
  return product;
}

Floats redone_unit(const Step& step) {
  Floats squares;
  for (const float value : step.row("v")) squares.push_back(value * value);
  return multiplied(step.row("v"), 1 / std::sqrt(step.sum(squares)));
}

Floats redone_output_share(const Step& step) {
  Floats y;
  for (std::size_t o = 0; step.has_row("W row " + std::to_string(o)); ++o) {
    y.push_back(step.product_sum(step.row("w v"), step.row("W row " + std::to_string(o))));
  }
  return y;
}

// The row's exponentials need the constants of the step before.
float redone_row_sum(const Step& step, const Floats& constants) {
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

// Does every step of a cell again from its numbers.
void expect_redone(const json& cell) {
  Floats constants;
  for (const json& one : cell["steps"]) {
    const Step step(one, cell["arithmetic"]);
    const std::string id = step.id();
    SCOPED_TRACE(id + " " + one["side"].get<std::string>());
    if (id == "embedding") {
      expect_bits(step.result(), multiplied(step.row("E"), step.number("scale")), id);
    } else if (id == "position" && step.has_row("p")) {
      expect_bits(step.result(), added(step.row("e"), step.row("p")), id);
    } else if (id == "position") {
      expect_bits(step.result(), redone_rotation(step), id);
    } else if (id == "norm") {
      expect_bits(step.result(), redone_norm(step), id);
    } else if (id == "query" || id == "key" || id == "value") {
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
void expect_joined(const json& cell) {
  const auto step = [&](const std::string& id, const std::string& side = "") {
    json found;
    for (const json& one : cell["steps"]) {
      if (one["id"] == id && one["side"] == side) found = one;  // the last: rotated, if it is
    }
    return Step(found, cell["arithmetic"]);
  };
  EXPECT_EQ(step("sum").result()[0], step("scale").number("s"));
  EXPECT_EQ(step("scale").result()[0], step("mask").number("s"));
  EXPECT_EQ(step("exp").result()[0], step("weight").number("e"));
  EXPECT_EQ(step("row_sum").result()[0], step("weight").number("sum"));
  EXPECT_EQ(step("weight").result()[0], step("weighted_value").number("w"));
  EXPECT_EQ(step("value", "key").result(), step("weighted_value").row("v"));
  EXPECT_EQ(step("weighted_value").result(), step("output_share").row("w v"));
  EXPECT_EQ(step("embedding", "query").result().size(),
            step("block_input", "query").result().size());
}

json cell_of(const Recording& recording, const CellPlace& place) {
  return json::parse(to_json(cell_arithmetic(recording, place)).dump());
}

json result_of(const json& cell, const std::string& id) {
  for (const json& step : cell["steps"]) {
    if (step["id"] == id) return step["result"];
  }
  ADD_FAILURE() << "no step " << id;
  return nullptr;
}

void expect_cells_redone(const models::TransformerConfig& config, const std::string& text) {
  SCOPED_TRACE(models::to_json(config));
  const SmallFolder folder(config);
  ExplorerState state = folder.state();
  const auto trace = state.traces.find(run(state, text)["trace"]);
  for (const Site& site : trace->session().sites()) {
    const Tensor weights = trace->recording.view(site.name).weights;
    const Index queries = weights.dim(1), keys = weights.dim(2);
    for (const CellPlace& place :
         {CellPlace{site.name, 0, queries - 1, 0}, CellPlace{site.name, site.heads - 1, 1, 1},
          CellPlace{site.name, 1, 0, keys - 1}}) {
      SCOPED_TRACE(site.name + " " + std::to_string(place.query) + " " + std::to_string(place.key));
      const json cell = cell_of(trace->recording, place);
      EXPECT_EQ(cell["exact"], true);
      expect_redone(cell);
      expect_joined(cell);
      const float weight =
          weights.values()[(place.head * queries + place.query) * keys + place.key];
      EXPECT_EQ(result_of(cell, "weight").get<float>(), weight);
    }
  }
}

TEST(CellArithmetic, CanBeDoneAgainFromItsNumbersForEveryTranslationModel) {
  for (const models::TransformerConfig& config : models::small_configs()) {
    expect_cells_redone(config, "the bat sleeps");
  }
  models::TransformerConfig before = models::small_config();
  before.norm_place = models::NormPlace::before;
  before.positions = models::Positions::learned;
  expect_cells_redone(before, "the bat sleeps");
}

TEST(CellArithmetic, CanBeDoneAgainForModelsOfTheOtherKinds) {
  expect_cells_redone(models::small_config(ModelKind::language), "the bat sleeps in");
  models::TransformerConfig classes = models::small_config(ModelKind::classifier);
  classes.pooling = models::Pooling::first;
  expect_cells_redone(classes, "the bat sleeps in");
  expect_cells_redone(models::small_config(ModelKind::masked), "the <mask> sleeps in");
  expect_cells_redone(models::small_config(ModelKind::tagger), "the bat sleeps in");
}

// Rows of several blocks, and sums of several chains.
TEST(CellArithmetic, CanBeDoneAgainForLongTextsAndWideModels) {
  std::string text;
  while (text.size() < 800) text += "the bat sleeps in the cave ";
  expect_cells_redone(models::small_config(ModelKind::language), text);
  models::TransformerConfig wide = models::small_config(ModelKind::language);
  wide.model_dim = 528;
  wide.decoder_layers = 1;
  wide.norm_place = models::NormPlace::before;
  expect_cells_redone(wide, "the bat");
}

TEST(CellArithmetic, HalfPrecisionWeightsAreExactToo) {
  const SmallFolder folder;
  const models::TranslationModelFolder loaded =
      models::load_model_folder<models::TranslationModel>(folder.path());
  for (const auto format : {models::WeightFormat::f16, models::WeightFormat::bf16}) {
    const TemporaryFolder other;
    models::save_model_folder(other.path(), loaded.model, loaded.tokenizer, {}, format);
    ExplorerState state(other.path());
    const auto trace = state.traces.find(run(state, "the bat")["trace"]);
    const json cell = cell_of(trace->recording, {"encoder.0.self_attention", 0, 1, 0});
    EXPECT_EQ(cell["exact"], true);
    expect_redone(cell);
  }
}

// The products of wide rows of int8 and int4 weights have an order of their own. What a cell shows
// is the engine's all the same, and it is called exact only where it can be done again.
TEST(CellArithmetic, QuantizedWeightsAreCalledExactOnlyWhereTheyAre) {
  const SmallFolder folder;
  const models::TranslationModelFolder loaded =
      models::load_model_folder<models::TranslationModel>(folder.path());
  for (const auto format : {models::WeightFormat::int8, models::WeightFormat::int4}) {
    const TemporaryFolder other;
    models::save_model_folder(other.path(), loaded.model, loaded.tokenizer, {}, format);
    ExplorerState state(other.path());
    const auto result = run(state, "the bat");
    EXPECT_EQ(result["sites"].size(), 6u);
    const auto trace = state.traces.find(result["trace"]);
    const std::string site = "encoder.0.self_attention";
    const json cell = cell_of(trace->recording, {site, 1, 1, 0});
    if (cell["exact"] == true) expect_redone(cell);
    const Tensor weights = trace->recording.view(site).weights;
    const Index length = weights.dim(1);
    EXPECT_EQ(result_of(cell, "weight"), weights.values()[(length + 1) * length]);
  }
}

// A masked cell gives -0 where the value is negative, and JSON keeps the sign.
TEST(CellArithmetic, TheSignOfAZeroIsKept) {
  const SmallFolder folder(ModelKind::language);
  ExplorerState state = folder.state();
  const auto trace = state.traces.find(run(state, "the bat sleeps")["trace"]);
  const json cell = cell_of(trace->recording, {"decoder.0.self_attention", 0, 0, 2});
  const Floats value = result_of(cell, "value"), share = result_of(cell, "weighted_value");
  EXPECT_TRUE(std::ranges::any_of(value, [](float x) { return x < 0; }));
  for (std::size_t i = 0; i < value.size(); ++i) {
    EXPECT_EQ(share[i], 0);
    EXPECT_EQ(std::signbit(share[i]), std::signbit(value[i]));
  }
  EXPECT_NE(cell.dump().find("-0.0"), std::string::npos);
}

TEST(CellArithmetic, AMaskedCellSaysSo) {
  const SmallFolder folder(ModelKind::language);
  ExplorerState state = folder.state();
  const auto trace = state.traces.find(run(state, "the bat sleeps")["trace"]);
  const json cell = cell_of(trace->recording, {"decoder.0.self_attention", 0, 0, 2});
  EXPECT_TRUE(result_of(cell, "mask").is_null());
  EXPECT_EQ(result_of(cell, "weight"), 0.0);
  EXPECT_EQ(result_of(cell, "logit_share"), 0.0);
}

// The share of the logit is the difference of two passes: without the link, the head's output lacks
// its part.
TEST(CellArithmetic, TheLogitShareIsThatOfAPassWithoutThePart) {
  const SmallFolder folder(ModelKind::language);
  ExplorerState state = folder.state();
  const auto trace = state.traces.find(run(state, "the bat sleeps")["trace"]);
  const Recording& recording = trace->recording;
  const json cell = cell_of(recording, {"decoder.1.self_attention", 1, 2, 1});
  const float moved = result_of(cell, "logit_share");
  Floats share = result_of(cell, "weighted_value");
  nn::Interventions interventions;
  for (float& value : share) value = -value;
  interventions.steering = {{"decoder.1.self_attention", 1, 2, share}};
  const Recording without(recording.shared_session(), recording.input(), interventions);
  const Tensor before = recording.logits(), after = without.logits();
  const Index at = 2 * before.dim(1) + recording.predictions()[2].token;
  EXPECT_EQ(moved, before.values()[at] - after.values()[at]);
  EXPECT_NE(moved, 0.0f);
}

TEST(CellArithmetic, RefusesCellsThatAreNotThere) {
  const SmallFolder folder;
  ExplorerState state = folder.state();
  const auto trace = state.traces.find(run(state, "the bat")["trace"]);
  expect_error(ErrorKind::usage, "encoder.0.self_attention: expected a head from 0 to 1, found 2",
               [&] {
                 cell_arithmetic(trace->recording, {"encoder.0.self_attention", 2, 0, 0});
               });
  EXPECT_THROW(cell_arithmetic(trace->recording, {"encoder.0.self_attention", 0, 99, 0}), Error);
  EXPECT_THROW(cell_arithmetic(trace->recording, {"nowhere", 0, 0, 0}), Error);
}

}  // namespace
}  // namespace heed::explore
