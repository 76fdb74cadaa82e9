// The whole arithmetic of one attention weight, step by step, from the embedding of its two tokens
// to what it did to the model's answer: every number that goes in, the order in which the engine
// takes them, and what comes out, so that it can be done again by hand to the last bit.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "heed/explore/recording.h"

namespace heed::explore {

struct CellRow {
  std::string name;
  std::vector<float> values;
};

struct CellStep {
  // embedding, position, block_input, norm, query, key, value, unit, product, sum, scale, mask,
  // max, exp, row_sum, weight, weighted_value, output_share, logit_share
  std::string id;
  std::string side;  // query or key where a step is done for one of the two tokens, else empty
  std::string title;
  std::string formula;  // for KaTeX
  std::string note;
  std::string order;  // how to do it, so that the bits are the engine's
  std::vector<CellRow> rows;
  std::vector<float> result;
  bool is_number = false;  // the result is one number, not a list of one
};

struct Cell {
  Index query = 0, key = 0;  // places in their sequences
  std::string query_piece, key_piece;
  std::vector<CellStep> steps;
  // Whether plain scalar code, in the order that the steps tell, has given the engine's bits. Not
  // so for weights of 8 or 4 bits, whose products have an order of their own.
  bool is_exact = true;
};

struct CellPlace {
  std::string site;
  Index head = 0, query = 0, key = 0;
};

// Refuses (ErrorKind::usage) a site, head, query or key that the recording does not have.
Cell cell_arithmetic(const Recording& recording, const CellPlace& place);

nlohmann::ordered_json to_json(const Cell& cell);

}  // namespace heed::explore
