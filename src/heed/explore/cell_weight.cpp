#include "heed/explore/cell_weight.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "heed/explore/exact_arithmetic.h"

namespace heed::explore {
namespace {

CellStep number_step(std::string id, std::string title, std::string formula, std::string note,
                     std::string order, std::vector<CellRow> rows, float result) {
  return {std::move(id),     "",
          std::move(title),  std::move(formula),
          std::move(note),   std::move(order),
          std::move(rows),   {result},
          /*is_number=*/true};
}

Floats add_unit(CellPass& pass, const std::string& side, const Floats& x) {
  const UnitSteps steps = unit_steps(x);
  pass.add({"unit",
            side,
            fmt::format("The {} with length 1", side),
            R"(\hat v = v / |v|)",
            "Cosine compares directions: lengths do not count.",
            "squares = sum of v_i * v_i; inverse = 1 / sqrt(squares); v_i * inverse. Sum: " +
                lane_sum_order(),
            {{"v", x}, {"squares", {steps.squares}}, {"inverse", {steps.inverse}}},
            steps.result});
  return steps.result;
}

float scale_factor(const CellPass& pass) {
  switch (pass.similarity()) {
    case ops::Similarity::scaled_dot:
      return 1 / std::sqrt(static_cast<float>(pass.head_dim()));
    case ops::Similarity::cosine:
      return nn::default_cosine_scale;
    default:
      return 1;
  }
}

float add_product_sum(CellPass& pass, const Floats& q, const Floats& k) {
  Floats products;
  for (std::size_t i = 0; i < q.size(); ++i) products.push_back(q[i] * k[i]);
  pass.add({"product",
            "",
            "Query times key, number by number",
            R"(q_i\,k_i)",
            "Each product rounded by itself, to look at. The sum below does not use these.",
            "q_i * k_i",
            {{"q", q}, {"k", k}},
            products});
  const float sum = product_sum(q, k);
  pass.add(number_step("sum", "Their sum: how alike the two are", R"(s = \sum_i q_i\,k_i)", "",
                       "a = q, b = k: " + product_sum_order(pass.head_dim()), {{"q", q}, {"k", k}},
                       sum));
  return sum;
}

void add_scale(CellPass& pass, float sum) {
  const float scale = scale_factor(pass), score = pass.cell_of(pass.view().scores);
  pass.expect(Floats{score}, Floats{sum * scale});
  const bool is_scaled = pass.similarity() == ops::Similarity::scaled_dot;
  pass.add(
      number_step("scale", "Scaled", is_scaled ? R"(s / \sqrt{K})" : R"(s \cdot \mathrm{scale})",
                  is_scaled ? fmt::format("K = {} is the width of one head.", pass.head_dim()) : "",
                  "s * scale", {{"s", {sum}}, {"scale", {scale}}}, score));
}

std::string mask_note(const CellPass& pass, float masked) {
  if (std::isfinite(masked)) return "The query may see this key.";
  if (pass.site().is_causal && pass.place().key > pass.place().query) {
    return "The key stands behind the query, which must not see it: minus infinity.";
  }
  return "This link is forbidden: minus infinity.";
}

void add_mask(CellPass& pass) {
  const float before = pass.cell_of(pass.view().capped), after = pass.cell_of(pass.view().masked);
  CellStep step = number_step("mask", "The mask", "s + m", mask_note(pass, after),
                              "s unless masked", {{"s", {before}}}, after);
  float expected = before;
  if (pass.config().positions == nn::Positions::alibi && !pass.is_cross()) {
    const float slope = ops::alibi_slopes(pass.config().num_heads)[pass.place().head];
    const auto distance = static_cast<float>(std::abs(pass.place().query - pass.place().key));
    expected = before - slope * distance;
    step.formula = R"(s - \mathrm{slope} \cdot |i - j|)";
    step.order = "s - slope * distance: the product is rounded, then the difference";
    step.rows.push_back({"slope", {slope}});
    step.rows.push_back({"distance", {distance}});
  }
  if (std::isfinite(after)) pass.expect(Floats{after}, Floats{expected});
  pass.add(std::move(step));
}

float add_exp(CellPass& pass, float score, float most) {
  const ExpSteps e = exp_steps(score - most);
  pass.add(number_step("exp", "The exponential", "e^{s - M}",
                       "A polynomial for what is left beside a power of two.",
                       "x = s - M; " + exp_order(),
                       {{"s", {score}},
                        {"M", {most}},
                        {"constants", exp_constants()},
                        {"n", {e.n}},
                        {"r", {e.rest}},
                        {"y", {e.polynomial}}},
                       e.result));
  return e.result;
}

void add_row_sum(CellPass& pass, FloatSpan scores, const SoftmaxSteps& softmax) {
  CellStep step =
      number_step("row_sum", "The sum of the row", R"(\sum_j e^{s_j - M})",
                  "Every key's exponential, as above; masked keys give 0.", lane_sum_order(),
                  {{"scores", copied(scores)}}, pass.number_of(pass.view().sums));
  if (softmax.blocks.size() == 1) {
    step.rows.push_back({"exps", softmax.blocks.front().exps});
  } else {
    step.order =
        "keys come in blocks of 128, each with the largest score M so far: the sum so far "
        "is multiplied by shrink = expf(M before - M) if M has grown, then the block's "
        "sum of e^(s_j - M) is added. A block's sum: " +
        lane_sum_order();
    for (const SoftmaxBlock& block : softmax.blocks) {
      const std::string name = fmt::format("from key {}", block.first);
      step.rows.push_back({"M " + name, {block.most}});
      step.rows.push_back({"shrink " + name, {block.shrink}});
      step.rows.push_back({"exps " + name, block.exps});
      step.rows.push_back({"sum " + name, {block.sum}});
    }
  }
  pass.add(std::move(step));
}

void add_softmax(CellPass& pass) {
  const FloatSpan scores = pass.row_of_stage(pass.view().masked);
  const float weight = pass.cell_of(pass.view().weights);
  const float most = pass.number_of(pass.view().maxima), sum = pass.number_of(pass.view().sums);
  if (std::isinf(most)) {
    return pass.add(number_step("weight", "The weight", "0",
                                "This query may see nothing: all its weights are 0.", "0", {},
                                weight));
  }
  const SoftmaxSteps softmax = softmax_steps(scores);
  pass.expect(Floats{most, sum}, Floats{softmax.most, softmax.sum});
  pass.add(number_step("max", "The largest score of the query's row", R"(M = \max_j s_j)",
                       "Taken off first, so that no exponential can become too large.",
                       "the largest", {{"scores", copied(scores)}}, most));
  const float e = add_exp(pass, scores[pass.place().key], most);
  add_row_sum(pass, scores, softmax);
  pass.expect(Floats{weight}, Floats{e * softmax.inverse});
  pass.add(number_step("weight", "The weight", R"(w = \frac{e^{s - M}}{\sum_j e^{s_j - M}})",
                       "The weights of a row sum to 1.", "inverse = 1 / sum, rounded; e * inverse",
                       {{"e", {e}}, {"sum", {sum}}, {"inverse", {softmax.inverse}}}, weight));
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
