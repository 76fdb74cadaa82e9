#include "heed/explore/cell_effect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "heed/explore/exact_arithmetic.h"
#include "heed/ops/linear.h"

namespace heed::explore {
namespace {

Floats add_weighted_value(CellPass& pass, const Floats& v) {
  const float weight = pass.cell_of(pass.view().weights);
  Floats share;
  for (const float value : v) share.push_back(weight * value);
  const FloatSpan mixed = row_of(pass.seen("mixed"), pass.place().query)
                              .subspan(pass.place().head * pass.head_dim(), pass.head_dim());
  pass.add(
      {"weighted_value",
       "",
       "The weight times the value",
       R"(w\,v)",
       "This key's part of what the head finds for the query. The engine adds e^(s_j - M) v_j over "
       "all keys and multiplies the sum by 1 / row sum: the parts together differ from what the "
       "head found by roundings.",
       "w * v_i",
       {{"w", {weight}}, {"v", v}, {"all keys together", copied(mixed)}},
       share});
  return share;
}

// The columns of the output matrix that read the head, [D, K].
Tensor output_columns(const CellPass& pass) {
  const Tensor weight = pass.parameter(pass.site().name + ".output.weight");  // [D, D]
  const Index width = pass.head_dim();
  Tensor columns = Tensor::empty({weight.dim(0), width});
  for (Index row = 0; row < weight.dim(0); ++row) {
    std::ranges::copy(row_of(weight, row).subspan(pass.place().head * width, width),
                      columns.data() + row * width);
  }
  return columns;
}

void add_output_share(CellPass& pass, const Floats& share) {
  const NoGrad no_grad;
  const Tensor columns = output_columns(pass);
  const Tensor part = ops::linear(Tensor::from(share, {1, pass.head_dim()}), columns, Tensor());
  CellStep step{"output_share",
                "",
                "Its part of the layer's output",
                R"(W_o\,(w\,v))",
                "The head's columns of the output matrix turn it into the width of the model.",
                "each o: a = w v, b = the head's columns of row o of W: " +
                    product_sum_order(pass.head_dim()),
                {{"w v", share}},
                copied(part.values())};
  Floats scalar;
  for (Index o = 0; o < columns.dim(0); ++o) {
    step.rows.push_back({fmt::format("W row {}", o), copied(row_of(columns, o))});
    scalar.push_back(product_sum(share, row_of(columns, o)));
  }
  pass.expect(step.result, scalar);
  pass.add(std::move(step));
}

// A prediction whose logit may have moved.
struct Prediction {
  Index row = 0, column = 0;
  std::string name;
};

Prediction prediction_at(const CellPass& pass, Index row) {
  const int token = pass.recording().predicted_token(row);
  return {row, token, pass.session().tokenizer().piece(token)};
}

// A token of the target moves what follows it; one of the source all of the target, or the gaps.
bool is_wanted(const CellPass& pass, Index row) {
  if (pass.session().masked())
    return pass.recording().input().source[row] == pass.session().tokenizer().mask();
  if (pass.session().language() || pass.site().queries == "target")
    return row == pass.place().query;
  return true;
}

std::vector<Prediction> predictions(const CellPass& pass) {
  if (pass.session().classifier()) {
    const FloatSpan logits = row_of(pass.logits(), 0);
    const Index best = std::ranges::max_element(logits) - logits.begin();
    return {{0, best, pass.config().labels.at(best)}};
  }
  std::vector<Prediction> all;
  for (Index row = 0; row < pass.logits().dim(0); ++row) {
    if (is_wanted(pass, row)) all.push_back(prediction_at(pass, row));
  }
  if (all.empty()) all.push_back(prediction_at(pass, pass.place().query));
  return all;
}

Tensor logits_without(const CellPass& pass, const Floats& share) {
  const NoGrad no_grad;
  nn::Interventions interventions = pass.recording().interventions();
  Floats taken;
  for (const float value : share) taken.push_back(-(pass.head_scale() * value));
  interventions.steering.push_back(
      {pass.site().name, pass.place().head, pass.place().query, taken});
  auto context = nn::ForwardContext::inference(nullptr, &interventions);
  return teacher_forced_logits(pass.session(), pass.recording().input(), context);
}

void add_logit_share(CellPass& pass, const Floats& share) {
  const Tensor without = logits_without(pass, share);
  const std::vector<Prediction> all = predictions(pass);
  CellStep step{
      "logit_share",
      "",
      "How far it moved the answer",
      R"(z_{\text{with}} - z_{\text{without}})",
      all.size() == 1
          ? "The logit of the predicted token in two passes of the whole model: as it "
            "is, and with this one part taken out of what the head found."
          : "Two passes of the whole model: as it is, and with this one part taken out of "
            "what the head found. The result is that of the prediction that moved most.",
      "with - without",
      {},
      {0},
      true};
  for (const Prediction& one : all) {
    const float before = row_of(pass.logits(), one.row)[one.column];
    const float after = row_of(without, one.row)[one.column];
    step.rows.push_back({one.name, {before, after, before - after}});
    if (std::abs(before - after) > std::abs(step.result[0])) step.result[0] = before - after;
  }
  pass.add(std::move(step));
}

}  // namespace

void add_effect(CellPass& pass, const Floats& value) {
  const Floats share = add_weighted_value(pass, value);
  add_output_share(pass, share);
  add_logit_share(pass, share);
}

}  // namespace heed::explore
