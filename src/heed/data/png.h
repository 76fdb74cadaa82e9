// PNG images.
#pragma once

#include <string>
#include <string_view>

#include "heed/data/image.h"

namespace heed::data {

bool is_png(std::string_view bytes);

// Grey images stay grey, all others become red, green and blue; 16 bits become 8, and what is
// transparent shows white. Refuses (ErrorKind::data), with `name`, what is broken or cut short.
Image decode_png(std::string_view bytes, const std::string& name);

}  // namespace heed::data
