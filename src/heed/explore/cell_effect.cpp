#include "heed/explore/cell_effect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "heed/explore/exact_arithmetic.h"
#include "heed/ops/linear.h"

namespace heed::explore {
namespace {

// The key's share of the head's output. The engine adds e^(s_j - M) v_j over all keys and
// multiplies the sum by 1 / row sum, so that the shares together differ from that by roundings.
Floats add_weighted_value(CellPass& pass, const Floats& v) {
  const float weight = pass.cell_of(pass.view().weights);
  Floats share;
  for (const float value : v) share.push_back(weight * value);
  const FloatSpan mixed = row_of(pass.seen("mixed"), pass.place().query)
                              .subspan(pass.place().head * pass.head_dim(), pass.head_dim());
  pass.add({.id = "weighted_value",
            .side = "",
            .variant = "",
            .rows = {{"w", {weight}}, {"v", v}, {"all keys", to_floats(mixed)}},
            .result = share});
  return share;
}

// The columns of the output matrix that read the head, [D, K].
Tensor output_columns(const CellPass& pass) {
  const Tensor weight = pass.parameter(pass.weights_name() + ".output.weight");  // [D, H * K]
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
  CellStep step{.id = "output_share",
                .side = "",
                .variant = "",
                .rows = {{"w v", share}},
                .result = to_floats(part.values())};
  Floats scalar;
  for (Index o = 0; o < columns.dim(0); ++o) {
    step.rows.push_back({fmt::format("W row {}", o), to_floats(row_of(columns, o))});
    scalar.push_back(product_sum(share, row_of(columns, o)));
  }
  pass.expect(step.result, scalar);
  pass.add(std::move(step));
}

// A logit of the answer that the weight may have moved.
struct AnswerLogit {
  Index row = 0, column = 0;
  std::string name;
};

AnswerLogit answer_logit(const CellPass& pass, Index row) {
  const int token = pass.recording().predictions().at(row).token;
  return {row, token, pass.session().column_name(token)};
}

// A token of the target moves what follows it; one of the source all of the target, or the masks.
bool is_wanted(const CellPass& pass, Index row) {
  if (pass.session().masked())
    return pass.recording().input().source[row] == pass.session().tokenizer().mask();
  if (pass.session().language() || pass.site().queries == "target")
    return row == pass.place().query;
  return true;
}

std::vector<AnswerLogit> answer_logits(const CellPass& pass) {
  if (pass.session().classifier()) {
    const FloatSpan logits = row_of(pass.logits(), 0);
    const Index best = std::ranges::max_element(logits) - logits.begin();
    return {{0, best, pass.session().column_name(best)}};
  }
  std::vector<AnswerLogit> all;
  for (Index row = 0; row < pass.logits().dim(0); ++row) {
    if (is_wanted(pass, row)) all.push_back(answer_logit(pass, row));
  }
  if (all.empty()) all.push_back(answer_logit(pass, pass.place().query));
  return all;
}

// An encoder answers with a vector: the number of it that two passes differ most in.
AnswerLogit moved_number(const CellPass& pass, const Tensor& without) {
  const FloatSpan before = row_of(pass.logits(), 0), after = row_of(without, 0);
  Index most = 0;
  for (Index i = 1; i < std::ssize(before); ++i) {
    if (std::abs(before[i] - after[i]) > std::abs(before[most] - after[most])) most = i;
  }
  return {0, most, pass.session().column_name(most)};
}

// Of a pass in which the head lacks the share: steering by its opposite.
Tensor logits_without(const CellPass& pass, const Floats& share) {
  const NoGrad no_grad;
  nn::Interventions interventions = pass.recording().interventions();
  Floats opposite;
  for (const float value : share) opposite.push_back(-(pass.head_scale() * value));
  interventions.steering.push_back(
      {pass.site().name, pass.place().head, pass.place().query, opposite});
  auto context = nn::ForwardContext::inference(nullptr, &interventions);
  return teacher_forced_logits(pass.session(), pass.recording().input(), context);
}

// Two passes of the whole model, with the share and without it. The result is the difference of the
// logit that moved most.
void add_logit_share(CellPass& pass, const Floats& share) {
  const Tensor without = logits_without(pass, share);
  const std::vector<AnswerLogit> all =
      pass.session().encoder() ? std::vector{moved_number(pass, without)} : answer_logits(pass);
  std::vector<CellRow> rows;
  float largest = 0;
  for (const AnswerLogit& one : all) {
    const float before = row_of(pass.logits(), one.row)[one.column];
    const float after = row_of(without, one.row)[one.column];
    rows.push_back({one.name, {before, after, before - after}});
    if (std::abs(before - after) > std::abs(largest)) largest = before - after;
  }
  pass.add_number("logit_share", "", std::move(rows), largest);
}

}  // namespace

void add_effect(CellPass& pass, const Floats& value) {
  const Floats share = add_weighted_value(pass, value);
  add_output_share(pass, share);
  add_logit_share(pass, share);
}

}  // namespace heed::explore
