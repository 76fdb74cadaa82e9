// The name of a class, as data and models hold it.
#pragma once

#include <cstddef>
#include <string_view>

#include "heed/base/error.h"

namespace heed::text {

inline constexpr std::size_t max_label_bytes = 1000;

// A label is printed on one line: refuses (`kind`) line ends, other control characters, and labels
// of more than max_label_bytes. `where` is the start of the message, "FILE:3".
void check_label(std::string_view label, std::string_view where, ErrorKind kind);

}  // namespace heed::text
