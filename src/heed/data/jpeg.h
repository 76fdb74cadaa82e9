// JPEG images.
#pragma once

#include <string>
#include <string_view>

#include "heed/data/image.h"

namespace heed::data {

bool is_jpeg(std::string_view bytes);

// Grey images stay grey, all others become red, green and blue. Refuses (ErrorKind::data), with
// `name`, what is broken or cut short, and the four colours of printers.
Image decode_jpeg(std::string_view bytes, const std::string& name);

}  // namespace heed::data
