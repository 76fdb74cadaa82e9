// From a query and a key to the weight of their link.
#pragma once

#include "heed/explore/cell_pass.h"

namespace heed::explore {

// Adds the steps unit (for cosine), product, sum, scale, softcap, mask, max, exp, row_sum and
// weight.
void add_weight(CellPass& pass, const Floats& query, const Floats& key);

}  // namespace heed::explore
