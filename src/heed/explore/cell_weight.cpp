#include "heed/explore/cell_weight.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "heed/explore/exact_arithmetic.h"

namespace heed::explore {
namespace {

Floats add_unit(CellPass& pass, const std::string& side, const Floats& x) {
  const UnitSteps steps = unit_steps(x);
  pass.add({.id = "unit",
            .side = side,
            .variant = "",
            .rows = {{"v", x}, {"squares", {steps.squares}}, {"inverse", {steps.inverse}}},
            .result = steps.result});
  return steps.result;
}

float add_product_sum(CellPass& pass, const Floats& q, const Floats& k) {
  Floats products;
  for (std::size_t i = 0; i < q.size(); ++i) products.push_back(q[i] * k[i]);
  pass.add({.id = "product",
            .side = "",
            .variant = "",
            .rows = {{"q", q}, {"k", k}},
            .result = products});
  const float sum = product_sum(q, k);
  pass.add_number("sum", "", {{"q", q}, {"k", k}}, sum);
  return sum;
}

// The similarity, which has a scale of its own, unless the layer has another.
std::string scale_variant(const CellPass& pass) {
  const bool is_given = pass.options().scale && pass.similarity() == pass.options().similarity;
  return is_given ? "given" : std::string(name_of(pass.similarity()));
}

void add_scale(CellPass& pass, float sum) {
  const float scale = pass.similarity_scale(), score = pass.cell_of(pass.view().scores);
  pass.expect(Floats{score}, Floats{sum * scale});
  pass.add_number("scale", scale_variant(pass), {{"s", {sum}}, {"scale", {scale}}}, score);
}

void add_softcap(CellPass& pass) {
  const float cap = pass.options().softcap;
  if (cap <= 0) return;
  const float score = pass.cell_of(pass.view().scores), capped = pass.cell_of(pass.view().capped);
  const SoftcapSteps steps = softcap_steps(score, cap);
  pass.expect(Floats{capped}, Floats{steps.result});
  pass.add_number("softcap", "",
                  {{"s", {score}},
                   {"cap", {cap}},
                   {"constants", softcap_constants()},
                   {"x", {steps.doubled}},
                   {"n", {steps.n}},
                   {"r", {steps.rest}},
                   {"y", {steps.polynomial}},
                   {"e", {steps.exp}},
                   {"tanh", {steps.tanh}}},
                  capped);
}

const char* mask_variant(const CellPass& pass, float masked) {
  if (std::isfinite(masked)) return "visible";
  const Index distance = pass.place().key - pass.place().query;
  if (pass.site().is_causal && distance > 0) return "causal";
  const Index window = pass.stack_options().self_attention_mask(pass.site().layer).window;
  const bool is_far = !pass.is_cross() && window > 0 && std::abs(distance) >= window;
  return is_far ? "window" : "knockout";
}

// The learned bias of the distance between query and key (T5, MPNet). Returns the score with it.
float add_distance_bias(const CellPass& pass, CellStep& step, float score) {
  if (!pass.stack_options().relative_positions || pass.is_cross()) return score;
  const ops::RelativeBuckets& options = *pass.stack_options().relative_positions;
  const Index distance = pass.place().key - pass.place().query;
  const Index place = std::clamp(distance, -options.max_distance, options.max_distance);
  const Index bucket = ops::buckets_by_distance(options)[place + options.max_distance];
  const Tensor table = pass.parameter(pass.stack() + ".relative_positions.weight");
  const float bias = row_of(table, bucket)[pass.place().head];
  step.rows.push_back({"bias", {bias}});
  step.rows.push_back({"bucket", {static_cast<float>(bucket)}});
  step.rows.push_back({"key - query", {static_cast<float>(distance)}});
  return score + bias;
}

void add_mask(CellPass& pass) {
  const float before = pass.cell_of(pass.view().capped), after = pass.cell_of(pass.view().masked);
  CellStep step{.id = "mask",
                .side = "",
                .variant = mask_variant(pass, after),
                .rows = {{"s", {before}}},
                .result = {after},
                .is_number = true};
  float expected = add_distance_bias(pass, step, before);
  if (pass.options().positions == nn::Positions::alibi) {
    const float slope = ops::alibi_slopes(pass.options().num_heads)[pass.place().head];
    const auto distance = static_cast<float>(std::abs(pass.place().query - pass.place().key));
    expected -= slope * distance;
    step.rows.push_back({"slope", {slope}});
    step.rows.push_back({"distance", {distance}});
  }
  if (std::isfinite(after)) pass.expect(Floats{after}, Floats{expected});
  pass.add(std::move(step));
}

float add_exp(CellPass& pass, float score, float max) {
  const ExpSteps e = exp_steps(score - max);
  pass.add_number("exp", "",
                  {{"s", {score}},
                   {"M", {max}},
                   {"constants", exp_constants()},
                   {"n", {e.n}},
                   {"r", {e.rest}},
                   {"y", {e.polynomial}}},
                  e.result);
  return e.result;
}

// The exponentials of a row of one block of keys; of longer rows, how each block updates the sum.
void add_row_sum(CellPass& pass, FloatSpan scores, const SoftmaxSteps& softmax) {
  std::vector<CellRow> rows{{"scores", to_floats(scores)}};
  if (softmax.blocks.size() == 1) {
    rows.push_back({"exps", softmax.blocks.front().exps});
  } else {
    for (const SoftmaxBlock& block : softmax.blocks) {
      const std::string name = fmt::format("from key {}", block.first);
      rows.push_back({"M " + name, {block.running_max}});
      rows.push_back({"rescale " + name, {block.rescale}});
      rows.push_back({"exps " + name, block.exps});
      rows.push_back({"sum " + name, {block.sum}});
    }
  }
  pass.add_number("row_sum", "", std::move(rows), pass.number_of(pass.view().sums));
}

// A query that may see nothing has a weight of 0, without a softmax.
void add_softmax(CellPass& pass) {
  const FloatSpan scores = pass.row_of_stage(pass.view().masked);
  const float weight = pass.cell_of(pass.view().weights);
  const float max = pass.number_of(pass.view().maxima), sum = pass.number_of(pass.view().sums);
  if (std::isinf(max)) return pass.add_number("weight", "", {}, weight);
  const SoftmaxSteps softmax = softmax_steps(scores);
  pass.expect(Floats{max, sum}, Floats{softmax.max, softmax.sum});
  pass.add_number("max", "", {{"scores", to_floats(scores)}}, max);
  const float e = add_exp(pass, scores[pass.place().key], max);
  add_row_sum(pass, scores, softmax);
  pass.expect(Floats{weight}, Floats{e * softmax.inverse});
  pass.add_number("weight", "", {{"e", {e}}, {"sum", {sum}}, {"inverse", {softmax.inverse}}},
                  weight);
}

}  // namespace

void add_weight(CellPass& pass, const Floats& query, const Floats& key) {
  const bool is_cosine = pass.similarity() == ops::Similarity::cosine;
  const Floats q = is_cosine ? add_unit(pass, "query", query) : query;
  const Floats k = is_cosine ? add_unit(pass, "key", key) : key;
  add_scale(pass, add_product_sum(pass, q, k));
  add_softcap(pass);
  add_mask(pass);
  add_softmax(pass);
}

}  // namespace heed::explore
