// A norm as a step of a cell: before attention, of embeddings, or of one head's query or key.
#pragma once

#include <string>

#include "heed/explore/cell_pass.h"

namespace heed::explore {

struct CellNorm {
  std::string id, side;  // of the step
  std::string name;      // of the norm's parameters: NAME.gain
};

// Its result is scalar code's.
CellStep norm_step(const CellPass& pass, const CellNorm& norm, FloatSpan x);

}  // namespace heed::explore
