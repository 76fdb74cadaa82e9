// From two tokens to the query, the key and the value of one head.
#pragma once

#include "heed/explore/cell_pass.h"

namespace heed::explore {

// Of one head, as the engine uses them.
struct CellVectors {
  Floats query, key, value;
};

// Adds the steps embedding, position, block_input, norm, query, key and value.
CellVectors add_vectors(CellPass& pass);

}  // namespace heed::explore
