// Functions of templates, and methods of strings, lists, dicts and loops.
#pragma once

#include <optional>
#include <string_view>

#include "heed/text/jinja_arguments.h"

namespace heed::text::jinja {

std::optional<Function> find_function(std::string_view name);
Value call_function(Run& run, Function function, const Arguments& arguments);

// Is there a value that has this method?
bool is_method(std::string_view name);
// Python's type has it; refuses those that are not supported.
bool has_method(Run& run, const Value& value, std::string_view name);
Value call_method(Run& run, const Method& method, const Arguments& arguments);

}  // namespace heed::text::jinja
