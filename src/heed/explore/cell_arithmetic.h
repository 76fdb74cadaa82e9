// The whole arithmetic of one attention weight, step by step, from the embedding of its two tokens
// to what it did to the model's answer: every number that goes in, the order in which the engine
// takes them, and what comes out, so that it can be done again by hand to the last bit. These are
// facts only; the page says in words what each step does.
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
  // embedding, token_type, position, embedding_norm, embedding_projection, block_input, norm,
  // query, key, head_norm, value, unit, product, sum, scale, softcap, mask, max, exp, row_sum,
  // weight, weighted_value, output_share, logit_share
  std::string id;
  std::string side;  // query or key where a step is done for one of the two tokens, else empty
  // Which of its forms a step has; empty where it has only one.
  //   position     learned, sinusoidal or rotary
  //   block_input  the stage that is read, as in encoder.0.after_feed_forward
  //   norm         layer or rms; so have embedding_norm and head_norm
  //   scale        the similarity: dot, cosine or scaled-dot; or given, by the configuration
  //   mask         visible, causal, window or knockout
  std::string variant;
  std::vector<CellRow> rows;
  std::vector<float> result;
  bool is_number = false;  // the result is one number, not a list of one
};

struct CellToken {
  Index position = 0;
  int id = 0;
  std::string piece;
};

struct Cell {
  CellToken query, key;
  Index head_dim = 0;
  std::vector<CellStep> steps;
  // Whether plain scalar code, in the order that exact_arithmetic.h gives, has given the engine's
  // bits. Not so for int8 and int4 weights, whose products have an order of their own.
  bool is_exact = true;
};

struct CellPlace {
  std::string site;
  Index head = 0, query = 0, key = 0;
};

// Refuses (ErrorKind::usage) a site, head, query or key that the recording does not have.
Cell cell_arithmetic(const Recording& recording, const CellPlace& place);

// With "arithmetic", the order of sums on this processor: {"lanes", "is_fused", "lane_order",
// "chain", "key_block"}, as in exact_arithmetic.h.
nlohmann::ordered_json to_json(const Cell& cell);

}  // namespace heed::explore
