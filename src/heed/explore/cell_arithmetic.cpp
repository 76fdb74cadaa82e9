#include "heed/explore/cell_arithmetic.h"

#include <nlohmann/json.hpp>

#include "heed/explore/cell_effect.h"
#include "heed/explore/cell_vectors.h"
#include "heed/explore/cell_weight.h"
#include "heed/explore/exact_arithmetic.h"
#include "heed/kernels/attention.h"

namespace heed::explore {
namespace {

using nlohmann::ordered_json;

const char* name_of(LaneOrder order) {
  switch (order) {
    case LaneOrder::halves:
      return "halves";
    case LaneOrder::neighbours:
      return "neighbours";
    case LaneOrder::in_turn:
      return "in turn";
    default:
      return "unknown";
  }
}

ordered_json arithmetic_json() {
  const VectorFacts& facts = vector_facts();
  return {{"lanes", facts.lanes},
          {"is_fused", facts.is_fused},
          {"lane_order", name_of(facts.lane_order)},
          {"chain", product_chain_length},
          {"key_block", kernels::attention_key_block}};
}

ordered_json to_json(const CellStep& step) {
  ordered_json rows = ordered_json::array();
  for (const CellRow& row : step.rows) rows.push_back({{"name", row.name}, {"values", row.values}});
  ordered_json json{{"id", step.id},
                    {"side", step.side},
                    {"variant", step.variant},
                    {"rows", rows},
                    {"result", step.result}};
  if (step.is_number) json["result"] = step.result.front();
  return json;
}

ordered_json to_json(const CellToken& token) {
  return {{"piece", token.piece}, {"id", token.id}, {"position", token.position}};
}

}  // namespace

Cell cell_arithmetic(const Recording& recording, const CellPlace& place) {
  CellPass pass(recording, place);
  const CellVectors vectors = add_vectors(pass);
  add_weight(pass, vectors.query, vectors.key);
  add_effect(pass, vectors.value);
  return pass.take();
}

ordered_json to_json(const Cell& cell) {
  ordered_json steps = ordered_json::array();
  for (const CellStep& step : cell.steps) steps.push_back(to_json(step));
  return {{"query", to_json(cell.query)},    {"key", to_json(cell.key)},
          {"head_dim", cell.head_dim},       {"exact", cell.is_exact},
          {"arithmetic", arithmetic_json()}, {"steps", steps}};
}

}  // namespace heed::explore
