// Filters: value|name(arguments).
#pragma once

#include <string>
#include <string_view>

#include "heed/text/jinja_arguments.h"

namespace heed::text::jinja {

using Filter = Value (*)(Run& run, const Value& value, const Arguments& arguments);

// Null when there is none of that name.
Filter find_filter(std::string_view name);
// Those of texts and those of lists; find_filter knows both.
Filter find_text_filter(std::string_view name);
Filter find_list_filter(std::string_view name);

}  // namespace heed::text::jinja
