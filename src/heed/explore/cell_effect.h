// The effect of a weight: on its head, on its layer, on the model's answer.
#pragma once

#include "heed/explore/cell_pass.h"

namespace heed::explore {

// Adds the steps weighted_value, output_share and logit_share.
void add_effect(CellPass& pass, const Floats& value);

}  // namespace heed::explore
