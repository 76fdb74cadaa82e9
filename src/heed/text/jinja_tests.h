// Tests: value is name(arguments).
#pragma once

#include <string_view>

#include "heed/text/jinja_arguments.h"

namespace heed::text::jinja {

using Test = bool (*)(Run& run, const Value& value, const Arguments& arguments);

// Null when there is none of that name.
Test find_test(std::string_view name);

}  // namespace heed::text::jinja
