#include "heed/explore/cell_vectors.h"

#include <fmt/format.h>

#include <cmath>

#include "heed/explore/exact_arithmetic.h"
#include "heed/text/tokenizer.h"

namespace heed::explore {
namespace {

constexpr float norm_epsilon = 1e-5f;  // the default of ops/norm.h

// One of the two tokens, and the stages that hold its vectors.
struct Side {
  std::string name;         // query or key
  std::string stack;        // encoder or decoder: where it was embedded
  std::string block_input;  // the stage that this attention reads it from
  bool is_normed = false;   // it goes through the layer's norm first
  Index place = 0;
  int token = 0;
};

Side side_of_query(const CellPass& pass) {
  const Index layer = pass.site().layer;
  std::string input = fmt::format("{}.{}.after_feed_forward", pass.stack(), layer - 1);
  if (layer == 0) input = pass.stack() + ".embedded";
  if (pass.is_cross()) input = fmt::format("{}.{}.after_self_attention", pass.stack(), layer);
  return {"query",
          pass.stack(),
          input,
          pass.config().norm_place == nn::NormPlace::before,
          pass.place().query,
          pass.tokens_of(pass.stack())[pass.place().query]};
}

Side side_of_key(const CellPass& pass) {
  Side side = side_of_query(pass);
  side.name = "key";
  if (pass.is_cross()) side = {"key", "encoder", "encoder.final", false, 0, 0};
  side.place = pass.place().key;
  side.token = pass.tokens_of(side.stack)[side.place];
  return side;
}

Tensor table_of(const CellPass& pass, const std::string& stack) {
  const Tensor own =
      pass.parameter(stack == "encoder" ? "source_embedding.weight" : "target_embedding.weight");
  return own.is_defined() ? own : pass.parameter("embedding.weight");
}

FloatSpan add_embedding(CellPass& pass, const Side& side) {
  const Tensor table = table_of(pass, side.stack);
  const float scale = std::sqrt(static_cast<float>(pass.config().model_dim));
  const FloatSpan words = row_of(pass.recording().stage(side.stack + ".words"), side.place);
  Floats scaled = to_floats(row_of(table, side.token));
  for (float& value : scaled) value *= scale;
  pass.expect(words, scaled);
  pass.add({.id = "embedding",
            .side = side.name,
            .variant = "",
            .rows = {{"E", to_floats(row_of(table, side.token))}, {"scale", {scale}}},
            .result = to_floats(words)});
  return words;
}

// The table of positions that are added to embeddings; undefined where they act elsewhere.
Tensor position_table(const CellPass& pass, const Side& side) {
  switch (pass.config().positions) {
    case nn::Positions::sinusoidal:
      return nn::shared_sinusoidal_table(side.place + 1, pass.config().model_dim);
    case nn::Positions::learned:
      return pass.parameter(side.stack + ".positions.weight");
    default:
      return {};
  }
}

void add_position(CellPass& pass, const Side& side, FloatSpan words) {
  const Tensor table = position_table(pass, side);
  if (!table.is_defined()) return;
  const FloatSpan position = row_of(table, side.place);
  const FloatSpan embedded = row_of(pass.recording().stage(side.stack + ".embedded"), side.place);
  Floats sum = to_floats(words);
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += position[i];
  pass.expect(embedded, sum);
  pass.add({.id = "position",
            .side = side.name,
            .variant = pass.config().positions == nn::Positions::learned ? "learned" : "sinusoidal",
            .rows = {{"e", to_floats(words)}, {"p", to_floats(position)}},
            .result = to_floats(embedded)});
}

void add_norm(CellPass& pass, const Side& side, FloatSpan x) {
  const Tensor gain = pass.parameter(pass.site().name + "_norm.gain");
  const Tensor bias = pass.parameter(pass.site().name + "_norm.bias");
  const FloatSpan engine = row_of(pass.seen("input"), side.place);
  CellStep step{.id = "norm",
                .side = side.name,
                .variant = bias.is_defined() ? "layer" : "rms",
                .rows = {{"x", to_floats(x)},
                         {"gain", to_floats(gain.values())},
                         {"epsilon", {norm_epsilon}}},
                .result = to_floats(engine)};
  NormSteps steps;
  if (bias.is_defined()) {
    steps = layer_norm_steps(x, gain.values(), bias.values(), norm_epsilon);
    step.rows.push_back({"bias", to_floats(bias.values())});
    step.rows.push_back({"mean", {steps.mean}});
  } else {
    steps = rms_norm_steps(x, gain.values(), norm_epsilon);
  }
  step.rows.push_back({"squares", {steps.squares}});
  step.rows.push_back({"inverse", {steps.inverse}});
  pass.expect(engine, steps.result);
  pass.add(std::move(step));
}

void add_block_input(CellPass& pass, const Side& side) {
  const FloatSpan input = row_of(pass.recording().stage(side.block_input), side.place);
  pass.add({.id = "block_input",
            .side = side.name,
            .variant = side.block_input,
            .rows = {},
            .result = to_floats(input)});
  if (side.is_normed) add_norm(pass, side, input);
}

// RoPE: element i and the one half a head away are rotated together by the angle of the position.
void add_rotation(CellPass& pass, const Side& side, const std::string& letter, const Floats& raw,
                  FloatSpan used) {
  const Index half = pass.head_dim() / 2;
  const ops::RotaryTable table = nn::shared_rotary_table(side.place + 1, {.dim = pass.head_dim()});
  const FloatSpan cos = row_of(table.cos, side.place), sin = row_of(table.sin, side.place);
  Floats rotated(raw.size());
  for (Index i = 0; i < half; ++i) {
    rotated[i] = raw[i] * cos[i] - raw[i + half] * sin[i];
    rotated[i + half] = raw[i] * sin[i] + raw[i + half] * cos[i];
  }
  pass.expect(used, rotated);
  pass.add({.id = "position",
            .side = side.name,
            .variant = "rotary",
            .rows = {{letter, raw}, {"cos", to_floats(cos)}, {"sin", to_floats(sin)}},
            .result = to_floats(used)});
}

// One of the three vectors that attention makes of a token: its role is query, key or value.
struct Projection {
  std::string role;
  std::string seen;  // the name that the results are seen by
  Index head = 0;
};

// Returns one head's numbers as the engine uses them.
Floats add_projection(CellPass& pass, const Side& side, const Projection& projection) {
  const bool is_memory = pass.is_cross() && side.name == "key";
  const Index width = pass.head_dim(), first = projection.head * width;
  const FloatSpan x =
      row_of(is_memory ? pass.recording().stage("encoder.final") : pass.seen("input"), side.place);
  const std::string matrix = pass.site().name + '.' + projection.role;
  const Tensor weight = pass.parameter(matrix + ".weight"), bias = pass.parameter(matrix + ".bias");
  CellStep step{
      .id = projection.role,
      .side = side.name,
      .variant = "",
      .rows = {{"x", to_floats(x)}, {"bias", to_floats(bias.values().subspan(first, width))}},
      .result = {}};
  for (Index c = first; c < first + width; ++c) {
    step.rows.push_back({fmt::format("W row {}", c - first), to_floats(row_of(weight, c))});
    step.result.push_back(product_sum(x, row_of(weight, c)) + bias.values()[c]);
  }
  const FloatSpan used = row_of(pass.seen(projection.seen), side.place).subspan(first, width);
  const bool is_rotated = pass.config().positions == nn::Positions::rotary && !pass.is_cross() &&
                          projection.role != "value";
  const Floats raw = step.result;
  if (!is_rotated) {
    pass.expect(used, raw);
    step.result = to_floats(used);
  }
  pass.add(std::move(step));
  if (is_rotated) add_rotation(pass, side, projection.role.substr(0, 1), raw, used);
  return to_floats(used);
}

}  // namespace

CellVectors add_vectors(CellPass& pass) {
  const Side query = side_of_query(pass), key = side_of_key(pass);
  for (const Side& side : {query, key}) {
    add_position(pass, side, add_embedding(pass, side));
    add_block_input(pass, side);
  }
  const Index group = pass.key_value_head();
  CellVectors vectors;
  vectors.query = add_projection(pass, query, {"query", "queries", pass.place().head});
  vectors.key = add_projection(pass, key, {"key", "keys", group});
  vectors.value = add_projection(pass, key, {"value", "values", group});
  return vectors;
}

}  // namespace heed::explore
