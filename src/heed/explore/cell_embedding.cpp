#include "heed/explore/cell_embedding.h"

#include <fmt/format.h>

#include <utility>

#include "heed/explore/cell_norm.h"
#include "heed/explore/exact_arithmetic.h"

namespace heed::explore {
namespace {

Tensor table_of(const CellPass& pass, const std::string& stack) {
  const Tensor own =
      pass.parameter(stack == "encoder" ? "source_embedding.weight" : "target_embedding.weight");
  return own.is_defined() ? own : pass.parameter("embedding.weight");
}

CellStep table_step(const CellPass& pass, const CellSource& source) {
  const Tensor table = table_of(pass, source.stack);
  const float scale = models::embedding_scale(pass.config());
  const Floats row = to_floats(row_of(table, source.token));
  Floats scaled = row;
  for (float& value : scaled) value *= scale;
  return {.id = "embedding",
          .side = source.side,
          .variant = "",
          .rows = {{"E", row}, {"scale", {scale}}},
          .result = std::move(scaled)};
}

// A vector that is added element by element.
CellStep sum_step(std::string id, const CellSource& source, const Floats& x, CellRow added) {
  Floats sum = x;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += added.values[i];
  return {.id = std::move(id),
          .side = source.side,
          .variant = "",
          .rows = {{"e", x}, std::move(added)},
          .result = std::move(sum)};
}

CellStep projection_step(const CellPass& pass, const CellSource& source, const Floats& x) {
  const Tensor weight = pass.parameter("embedding_projection.weight");
  const Tensor bias = pass.parameter("embedding_projection.bias");
  return linear_step({"embedding_projection", source.side, weight, bias, 0, weight.dim(0)}, x);
}

// The words of the stack: the token's row, with the vector of its part of the text, or projected.
FloatSpan add_words(CellPass& pass, const CellSource& source) {
  CellChain chain;
  CellStep step = table_step(pass, source);
  Floats x = step.result;
  chain.add(std::move(step));
  const auto then = [&](CellStep next) {
    x = next.result;
    chain.add(std::move(next));
  };
  if (pass.config().token_types > 0) {
    const Tensor types = pass.parameter("token_type_embedding.weight");
    const int type = token_type(pass.session(), pass.recording().input(), source.place);
    then(sum_step("token_type", source, x, {"t", to_floats(row_of(types, type))}));
  }
  const bool is_projected =
      pass.config().embedding_dim > 0 && !models::has_projected_sum(pass.config());
  if (is_projected) then(projection_step(pass, source, x));
  const FloatSpan words = row_of(pass.recording().stage(source.stack + ".words"), source.place);
  pass.add(std::move(chain), words);
  return words;
}

// The table of positions that are added to embeddings; undefined where they act elsewhere.
Tensor position_table(const CellPass& pass, const CellSource& source, Index row) {
  switch (pass.config().positions) {
    case nn::Positions::sinusoidal:
      return nn::shared_sinusoidal_table(row + 1, models::embedding_width(pass.config()),
                                         pass.config().sinusoid_order);
    case nn::Positions::learned:
      return pass.parameter(source.stack + ".positions.weight");
    default:
      return {};
  }
}

}  // namespace

CellStep linear_step(const CellLinear& linear, FloatSpan x) {
  CellStep step{.id = linear.id,
                .side = linear.side,
                .variant = "",
                .rows = {{"x", to_floats(x)}},
                .result = {}};
  const Index first = linear.first, count = linear.count;
  FloatSpan bias;
  if (linear.bias.is_defined()) bias = std::as_const(linear.bias).values().subspan(first, count);
  if (!bias.empty()) step.rows.push_back({"bias", to_floats(bias)});
  for (Index c = 0; c < count; ++c) {
    const FloatSpan row = row_of(linear.weight, first + c);
    step.rows.push_back({fmt::format("W row {}", c), to_floats(row)});
    step.result.push_back(product_sum(x, row));
    if (!bias.empty()) step.result.back() += bias[c];
  }
  return step;
}

void add_embedding(CellPass& pass, const CellSource& source) {
  Floats x = to_floats(add_words(pass, source));
  CellChain chain;
  const auto then = [&](CellStep next) {
    x = next.result;
    chain.add(std::move(next));
  };
  const models::TransformerConfig& config = pass.config();
  const Index row = source.place + config.position_offset;
  const Tensor table = position_table(pass, source, row);
  if (table.is_defined()) {
    CellStep step = sum_step("position", source, x, {"p", to_floats(row_of(table, row))});
    step.variant = config.positions == nn::Positions::learned ? "learned" : "sinusoidal";
    then(std::move(step));
  }
  if (config.has_embedding_norm) {
    then(norm_step(pass, {"embedding_norm", source.side, source.stack + ".embedding_norm"}, x));
  }
  if (models::has_projected_sum(config)) then(projection_step(pass, source, x));
  pass.add(std::move(chain),
           row_of(pass.recording().stage(source.stack + ".embedded"), source.place));
}

}  // namespace heed::explore
