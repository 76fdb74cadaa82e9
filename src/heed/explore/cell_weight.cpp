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

void add_scale(CellPass& pass, float sum) {
  const float scale = pass.similarity_scale(), score = pass.cell_of(pass.view().scores);
  pass.expect(Floats{score}, Floats{sum * scale});
  pass.add_number("scale", std::string(name_of(pass.similarity())),
                  {{"s", {sum}}, {"scale", {scale}}}, score);
}

const char* mask_variant(const CellPass& pass, float masked) {
  if (std::isfinite(masked)) return "visible";
  const bool is_later = pass.place().key > pass.place().query;
  return pass.site().is_causal && is_later ? "causal" : "knockout";
}

void add_mask(CellPass& pass) {
  const float before = pass.cell_of(pass.view().capped), after = pass.cell_of(pass.view().masked);
  CellStep step{.id = "mask",
                .side = "",
                .variant = mask_variant(pass, after),
                .rows = {{"s", {before}}},
                .result = {after},
                .is_number = true};
  float expected = before;
  if (pass.config().positions == nn::Positions::alibi && !pass.is_cross()) {
    const float slope = ops::alibi_slopes(pass.config().num_heads)[pass.place().head];
    const auto distance = static_cast<float>(std::abs(pass.place().query - pass.place().key));
    expected = before - slope * distance;
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
  add_mask(pass);
  add_softmax(pass);
}

}  // namespace heed::explore
