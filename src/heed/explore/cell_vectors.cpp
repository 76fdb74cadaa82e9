#include "heed/explore/cell_vectors.h"

#include <fmt/format.h>

#include <cmath>

#include "heed/explore/exact_arithmetic.h"
#include "heed/text/tokenizer.h"

namespace heed::explore {
namespace {

constexpr float norm_epsilon = 1e-5f;  // what ops/norm.h takes unless told otherwise

// One of the two tokens, and where its vectors are found.
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
  Floats scaled = copied(row_of(table, side.token));
  for (float& value : scaled) value *= scale;
  pass.expect(words, scaled);
  const std::string piece = pass.session().tokenizer().piece(side.token);
  pass.add({"embedding",
            side.name,
            fmt::format("The row of the embedding for “{}”", piece),
            R"(e = \sqrt{D}\,E_t)",
            fmt::format("Token {} of the vocabulary; D = {}.", side.token, table.dim(1)),
            "element by element: e_i = E_i * scale",
            {{"E", copied(row_of(table, side.token))}, {"scale", {scale}}},
            copied(words)});
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
  Floats sum = copied(words);
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += position[i];
  pass.expect(embedded, sum);
  pass.add({"position",
            side.name,
            fmt::format("Plus the row of position {}", side.place),
            R"(x = e + p)",
            pass.config().positions == nn::Positions::learned
                ? "Positions are learned: a row of their own table."
                : "Sines and cosines of position / 10000^(2 i / D), computed in double precision.",
            "element by element: x_i = e_i + p_i",
            {{"e", copied(words)}, {"p", copied(position)}},
            copied(embedded)});
}

std::string norm_order(bool is_layer_norm) {
  const std::string steps =
      is_layer_norm
          ? "mean = (sum of x_i) / D; squares = sum of (x_i - mean) * (x_i - mean); inverse = 1 / "
            "sqrt(squares / D + epsilon); ((x_i - mean) * inverse) * gain_i + bias_i. "
          : "squares = sum of x_i * x_i; inverse = 1 / sqrt(squares / D + epsilon); "
            "(x_i * inverse) * gain_i. ";
  return steps + "Sums: " + lane_sum_order();
}

void add_norm(CellPass& pass, const Side& side, FloatSpan x) {
  const Tensor gain = pass.parameter(pass.site().name + "_norm.gain");
  const Tensor bias = pass.parameter(pass.site().name + "_norm.bias");
  const FloatSpan engine = row_of(pass.seen("input"), side.place);
  CellStep step{"norm",
                side.name,
                "RMS norm",
                R"(\hat x = \frac{x}{\sqrt{\overline{x^2} + \epsilon}} \odot g)",
                "Mean square 1, then the learned gain.",
                norm_order(bias.is_defined()),
                {{"x", copied(x)}, {"gain", copied(gain.values())}, {"epsilon", {norm_epsilon}}},
                copied(engine)};
  NormSteps steps;
  if (bias.is_defined()) {
    step.title = "Layer norm";
    step.formula = R"(\hat x = \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} \odot g + b)";
    step.note = "Mean 0 and variance 1, then the learned gain and bias.";
    steps = layer_norm_steps(x, gain.values(), bias.values(), norm_epsilon);
    step.rows.push_back({"bias", copied(bias.values())});
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
  const bool is_start = side.block_input.ends_with(".embedded");
  pass.add({"block_input",
            side.name,
            fmt::format("What this layer reads: {}", side.block_input),
            "x",
            is_start ? "The first layer: nothing has happened to the embedding yet."
                     : "What the layers before have made of the embedding.",
            is_start ? "the numbers above" : "the result of the layers before",
            {},
            copied(input)});
  if (side.is_normed) add_norm(pass, side, input);
}

// Rotary positions: element i and the one half a head away turn together.
void add_turn(CellPass& pass, const Side& side, const std::string& letter, const Floats& raw,
              FloatSpan used) {
  const Index half = pass.head_dim() / 2;
  const ops::RotaryTable table = nn::shared_rotary_table(side.place + 1, pass.head_dim());
  const FloatSpan cos = row_of(table.cos, side.place), sin = row_of(table.sin, side.place);
  Floats turned(raw.size());
  for (Index i = 0; i < half; ++i) {
    turned[i] = raw[i] * cos[i] - raw[i + half] * sin[i];
    turned[i + half] = raw[i] * sin[i] + raw[i + half] * cos[i];
  }
  pass.expect(used, turned);
  pass.add({"position",
            side.name,
            fmt::format("Turned by position {}", side.place),
            R"((a, b) \mapsto (a \cos - b \sin,\; a \sin + b \cos))",
            "Rotary positions turn pairs of numbers by angles that grow with the place.",
            fmt::format("a = {0}_i, b = {0}_(i + {1}); each product is rounded, then their sum",
                        letter, half),
            {{letter, raw}, {"cos", copied(cos)}, {"sin", copied(sin)}},
            copied(used)});
}

// What the attention makes of a token: its role is query, key or value.
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
  const std::string letter = projection.role.substr(0, 1);
  CellStep step{projection.role,
                side.name,
                fmt::format("The {}, head {}", projection.role, pass.place().head),
                fmt::format(R"({0} = W_{0}\,x + b_{0})", letter),
                fmt::format("W has a row of {} numbers for each of the head's {} numbers.",
                            weight.dim(1), width),
                fmt::format("each {0}_c: a = x, b = row c of W: {1}; then {0}_c = s + bias_c",
                            letter, product_sum_order(weight.dim(1))),
                {{"x", copied(x)}, {"bias", copied(bias.values().subspan(first, width))}},
                {}};
  for (Index c = first; c < first + width; ++c) {
    step.rows.push_back({fmt::format("W row {}", c - first), copied(row_of(weight, c))});
    step.result.push_back(product_sum(x, row_of(weight, c)) + bias.values()[c]);
  }
  const FloatSpan used = row_of(pass.seen(projection.seen), side.place).subspan(first, width);
  const bool is_turned = pass.config().positions == nn::Positions::rotary && !pass.is_cross() &&
                         projection.role != "value";
  const Floats raw = step.result;
  if (!is_turned) {
    pass.expect(used, raw);
    step.result = copied(used);
  }
  pass.add(std::move(step));
  if (is_turned) add_turn(pass, side, letter, raw, used);
  return copied(used);
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
