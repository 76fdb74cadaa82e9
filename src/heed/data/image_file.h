// Image files of the formats that Heed reads.
#pragma once

#include <string>

#include "heed/data/image.h"

namespace heed::data {

// A PNG or JPEG image; its first bytes say which, not its name. Refuses (ErrorKind::data), with the
// path: a file that is missing, of another kind, or broken.
Image read_image(const std::string& path);

}  // namespace heed::data
