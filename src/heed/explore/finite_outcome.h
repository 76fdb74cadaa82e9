// Outcomes that are no numbers. Interventions can drive any model out of the range of floats, so a
// request that did is refused (ErrorKind::data) with a sentence for the person who made it.
#pragma once

#include "heed/base/error.h"

namespace heed::explore {

inline void check_finite_outcome(bool is_finite) {
  check_as(
      ErrorKind::data, is_finite,
      "outcome: expected finite scores of the model, found NaN or infinity (an intervention is "
      "too large, or the weights are damaged)");
}

// Runs a search with a model that was loaded before: all that it can refuse about the model is
// that its scores are not finite.
template <typename Search>
auto with_finite_outcome(const Search& search) -> decltype(search()) {
  try {
    return search();
  } catch (const Error& error) {
    check_finite_outcome(error.kind() != ErrorKind::model);
    throw;
  }
}

}  // namespace heed::explore
