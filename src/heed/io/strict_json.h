// JSON from a file that may be damaged or hostile: no key twice, no endless nesting.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "heed/base/error.h"

namespace heed::io {

// Throws Error(kind) that starts with `source`: broken JSON, with the byte and, in a text of
// several, the line; a key that occurs twice in one object; more than `max_depth` objects and
// arrays within each other.
nlohmann::json parse_strict_json(std::string_view text, const std::string& source, int max_depth,
                                 ErrorKind kind = ErrorKind::model);

}  // namespace heed::io
