// UTF-8 validation under the names of this layer.
#pragma once

#include "heed/base/utf8.h"

namespace heed::text {

using heed::first_invalid_byte;
using heed::is_valid_utf8;
using heed::utf8_length;

}  // namespace heed::text
