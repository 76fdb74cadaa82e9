// Methods of Python's strings.
#pragma once

#include <string>
#include <string_view>

#include "heed/text/jinja_arguments.h"

namespace heed::text::jinja {

bool is_string_method(std::string_view name);
// One that Python has and a template may not call here.
bool is_other_string_method(std::string_view name);
Value call_string_method(Run& run, const std::string& self, std::string_view name,
                         const Arguments& arguments);

// The method replace, of at most `count` places; below 0: of all.
Value replaced(Run& run, const std::string& text, const std::string& old, const std::string& with,
               std::int64_t count);

}  // namespace heed::text::jinja
