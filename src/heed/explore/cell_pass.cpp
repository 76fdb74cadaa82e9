#include "heed/explore/cell_pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>

#include "heed/base/error.h"
#include "heed/nn/similarity_scale.h"

namespace heed::explore {
namespace {

void check_place(const CellPlace& place, const Tensor& weights) {
  const auto check_below = [&](const char* what, Index value, Index bound) {
    check_as(ErrorKind::usage, value >= 0 && value < bound, place.site, ": expected a ", what,
             " from 0 to ", bound - 1, ", found ", value);
  };
  check_below("head", place.head, weights.dim(0));
  check_below("query", place.query, weights.dim(1));
  check_below("key", place.key, weights.dim(2));
}

bool same_bits(FloatSpan a, FloatSpan b) {
  return std::ranges::equal(a, b, [](float x, float y) {
    return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
  });
}

nn::TransformerOptions stack_options(const models::TransformerConfig& config, const Site& site) {
  const bool is_encoder = site.part == "encoder";
  return is_encoder ? models::encoder_options(config) : models::decoder_options(config);
}

nn::MultiHeadAttentionOptions layer_options(const nn::TransformerOptions& stack, const Site& site) {
  nn::MultiHeadAttentionOptions options =
      site.part == "cross" ? stack.cross_attention() : stack.self_attention(site.layer);
  options.num_key_value_heads = ops::num_key_value_heads(options);
  if (options.head_dim == 0) options.head_dim = options.model_dim / options.num_heads;
  if (options.rotary.dim == 0) options.rotary.dim = options.head_dim;
  return options;
}

}  // namespace

FloatSpan row_of(const Tensor& matrix, Index row) {
  return matrix.values().subspan(row * matrix.dim(-1), matrix.dim(-1));
}

Floats to_floats(FloatSpan values) { return {values.begin(), values.end()}; }

CellPass::CellPass(const Recording& recording, const CellPlace& place)
    : recording_(recording),
      site_(recording.session().site(place.site)),
      place_(place),
      stack_options_(explore::stack_options(session().config(), site_)),
      options_(layer_options(stack_options_, site_)),
      watcher_(place.site) {
  const NoGrad no_grad;
  auto context = nn::ForwardContext::inference(&watcher_, &recording_.interventions());
  logits_ = teacher_forced_logits(session(), recording_.input(), context);
  check_place(place_, view().weights.at(0));
  const std::string key_stack = is_cross() ? "encoder" : stack();
  const auto token = [this](Index position, const std::string& stack) {
    const int id = tokens_of(stack)[position];
    return CellToken{position, id, session().tokenizer().piece(id)};
  };
  cell_.query = token(place_.query, stack());
  cell_.key = token(place_.key, key_stack);
  cell_.head_dim = head_dim();
}

std::vector<int> CellPass::tokens_of(const std::string& stack) const {
  const bool is_target = session().translation() && stack == "decoder";
  return is_target ? recording_.input().target : tokens_seen(session(), recording_.input());
}

std::string CellPass::weights_name() const {
  if (!stack_options_.has_shared_layers) return site_.name;
  return fmt::format("{}.0{}", stack(), site_.name.substr(site_.name.rfind('.')));
}

ops::Similarity CellPass::similarity() const {
  return recording_.interventions().swapped_similarity.value_or(config().similarity);
}

float CellPass::similarity_scale() const {
  return nn::similarity_scale(options_, similarity())
      .value_or(ops::default_scale(similarity(), head_dim()));
}

Index CellPass::key_value_head() const {
  return place_.head / (options_.num_heads / options_.num_key_value_heads);
}

float CellPass::head_scale() const {
  float scale = 1;
  for (const auto& scaled : recording_.interventions().scales) {
    if (scaled.layer == site_.name && scaled.head == place_.head) scale = scaled.scale;
  }
  return scale;
}

FloatSpan CellPass::row_of_stage(const std::vector<Tensor>& stage) const {
  return row_of(stage.at(0), place_.head * stage.at(0).dim(1) + place_.query);
}

float CellPass::cell_of(const std::vector<Tensor>& stage) const {
  return row_of_stage(stage)[place_.key];
}

float CellPass::number_of(const std::vector<Tensor>& stage) const {
  return row_of(stage.at(0), place_.head)[place_.query];
}

void CellPass::add_number(std::string id, std::string variant, std::vector<CellRow> rows,
                          float result) {
  add({.id = std::move(id),
       .side = "",
       .variant = std::move(variant),
       .rows = std::move(rows),
       .result = {result},
       .is_number = true});
}

void CellPass::add(CellChain chain, FloatSpan engine) {
  if (chain.steps_.empty()) return;
  CellStep& last = chain.steps_.back();
  expect(engine, last.result);
  last.result = to_floats(engine);
  for (CellStep& step : chain.steps_) add(std::move(step));
}

void CellPass::expect(FloatSpan engine, FloatSpan scalar) {
  cell_.is_exact = cell_.is_exact && same_bits(engine, scalar);
}

}  // namespace heed::explore
