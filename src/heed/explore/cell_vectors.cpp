#include "heed/explore/cell_vectors.h"

#include <fmt/format.h>

#include <utility>

#include "heed/explore/cell_embedding.h"
#include "heed/explore/cell_norm.h"

namespace heed::explore {
namespace {

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
          pass.config().norm_place != nn::NormPlace::after,
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

void add_block_input(CellPass& pass, const Side& side) {
  const FloatSpan input = row_of(pass.recording().stage(side.block_input), side.place);
  pass.add({.id = "block_input",
            .side = side.name,
            .variant = side.block_input,
            .rows = {},
            .result = to_floats(input)});
  if (!side.is_normed) return;
  CellChain chain;
  chain.add(norm_step(pass, {"norm", side.name, pass.weights_name() + "_norm"}, input));
  pass.add(std::move(chain), row_of(pass.seen("input"), side.place));
}

// RoPE: of the first elements of a head, element i and the one half of them away are rotated
// together by the angle of the position.
CellStep rotation_step(const CellPass& pass, const Side& side, const std::string& letter,
                       const Floats& raw) {
  const ops::RotaryFrequencies& frequencies = pass.options().rotary;
  const Index half = frequencies.dim / 2;
  const ops::RotaryTable table = nn::shared_rotary_table(side.place + 1, frequencies);
  const FloatSpan cos = row_of(table.cos, side.place), sin = row_of(table.sin, side.place);
  Floats rotated = raw;
  for (Index i = 0; i < half; ++i) {
    rotated[i] = raw[i] * cos[i] - raw[i + half] * sin[i];
    rotated[i + half] = raw[i] * sin[i] + raw[i + half] * cos[i];
  }
  return {.id = "position",
          .side = side.name,
          .variant = "rotary",
          .rows = {{letter, raw}, {"cos", to_floats(cos)}, {"sin", to_floats(sin)}},
          .result = std::move(rotated)};
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
  const std::string matrix = pass.weights_name() + '.' + projection.role;
  CellChain chain;
  CellStep step = linear_step({projection.role, side.name, pass.parameter(matrix + ".weight"),
                               pass.parameter(matrix + ".bias"), first, width},
                              x);
  const auto then = [&](CellStep next) {
    chain.add(std::move(step));
    step = std::move(next);
  };
  const bool is_value = projection.role == "value";
  if (pass.options().query_key_norm && !is_value) {
    then(norm_step(pass, {"head_norm", side.name, matrix + "_norm"}, step.result));
  }
  if (pass.options().positions == nn::Positions::rotary && !is_value) {
    then(rotation_step(pass, side, projection.role.substr(0, 1), step.result));
  }
  chain.add(std::move(step));
  const FloatSpan used = row_of(pass.seen(projection.seen), side.place).subspan(first, width);
  pass.add(std::move(chain), used);
  return to_floats(used);
}

}  // namespace

CellVectors add_vectors(CellPass& pass) {
  const Side query = side_of_query(pass), key = side_of_key(pass);
  for (const Side& side : {query, key}) {
    add_embedding(pass, {side.name, side.stack, side.place, side.token});
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
