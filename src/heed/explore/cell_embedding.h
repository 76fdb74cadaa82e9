// From a token to the input of the first block.
#pragma once

#include <string>

#include "heed/explore/cell_pass.h"

namespace heed::explore {

// A token that is looked up, and the stack that reads it.
struct CellSource {
  std::string side;   // query or key
  std::string stack;  // encoder or decoder
  Index place = 0;
  int token = 0;
};

// Adds the steps embedding, token_type, position, embedding_norm and embedding_projection: those
// that the model has.
void add_embedding(CellPass& pass, const CellSource& source);

// The step of a linear layer, W x + bias, from rows [first, first + count) of its matrix; `bias`
// may be undefined. Its result is scalar code's.
struct CellLinear {
  std::string id, side;
  Tensor weight, bias;
  Index first = 0, count = 0;
};
CellStep linear_step(const CellLinear& linear, FloatSpan x);

}  // namespace heed::explore
