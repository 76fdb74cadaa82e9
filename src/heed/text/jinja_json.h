// JSON in and out of a template's values.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "heed/text/jinja_value.h"

namespace heed::text::jinja {

Value from_json(Run& run, const nlohmann::ordered_json& json);

// As Python's json.dumps writes it.
struct JsonStyle {
  bool only_ascii = false;
  std::optional<std::string> indent = std::nullopt;  // of one level; none: all on one line
  std::string item_separator = ", ";
  std::string key_separator = ": ";
  bool sort_keys = false;
};

std::string to_json(Run& run, const Value& value, const JsonStyle& style);

}  // namespace heed::text::jinja
