#include "heed/text/component.h"

namespace heed::text {

void check_growth(std::string_view component, std::size_t size_before, std::size_t size_after) {
  constexpr std::size_t allowance = 1 << 16, max_factor = 16;  // NFKC needs 11
  check_as(ErrorKind::model, size_after / max_factor <= size_before + allowance / max_factor,
           component, ": expected a text of ", size_before, " bytes to become at most ", max_factor,
           " times as long, found ", size_after, " bytes");
}

}  // namespace heed::text
