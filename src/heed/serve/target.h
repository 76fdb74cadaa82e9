// The second word of a request line: path and query.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace heed::serve {

struct Target {
  std::string path;
  std::map<std::string, std::string> query;  // of a name that comes twice, the last
};

// Both parts decoded; in the query + is a space. None: it does not begin with / or an escape is
// broken.
std::optional<Target> parse_target(std::string_view target);

}  // namespace heed::serve
