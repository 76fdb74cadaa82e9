#include "heed/explore/cell_arithmetic.h"

#include <nlohmann/json.hpp>

#include "heed/explore/cell_effect.h"
#include "heed/explore/cell_vectors.h"
#include "heed/explore/cell_weight.h"

namespace heed::explore {
namespace {

nlohmann::ordered_json to_json(const CellStep& step) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const CellRow& row : step.rows) rows.push_back({{"name", row.name}, {"values", row.values}});
  nlohmann::ordered_json json{
      {"id", step.id},     {"side", step.side}, {"title", step.title},   {"formula", step.formula},
      {"note", step.note}, {"rows", rows},      {"result", step.result}, {"order", step.order}};
  if (step.is_number) json["result"] = step.result.front();
  return json;
}

}  // namespace

Cell cell_arithmetic(const Recording& recording, const CellPlace& place) {
  CellPass pass(recording, place);
  const CellVectors vectors = add_vectors(pass);
  add_weight(pass, vectors.query, vectors.key);
  add_effect(pass, vectors.value);
  return pass.take();
}

nlohmann::ordered_json to_json(const Cell& cell) {
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  for (const CellStep& step : cell.steps) steps.push_back(to_json(step));
  return {{"query", {{"piece", cell.query_piece}, {"position", cell.query}}},
          {"key", {{"piece", cell.key_piece}, {"position", cell.key}}},
          {"exact", cell.is_exact},
          {"steps", steps}};
}

}  // namespace heed::explore
