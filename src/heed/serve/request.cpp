#include "heed/serve/request.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/io/strict_json.h"

namespace heed::serve {
namespace {

// Deep enough for lists of matrices in a list of heads; far from a stack overflow.
constexpr int max_json_depth = 16;
// Far more than any request of the page has.
constexpr Index max_json_values = 20'000;

// Commas and opening brackets outside of texts. Each comes with one value.
Index num_values(std::string_view json) {
  Index count = 0;
  bool is_in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') is_in_text = !is_in_text;
    if (is_in_text && c == '\\') ++i;
    if (!is_in_text && (c == ',' || c == '[' || c == '{')) ++count;
  }
  return count;
}

const std::string& value_of(const std::map<std::string, std::string>& values,
                            const std::string& name) {
  const auto entry = values.find(name);
  check_as(ErrorKind::usage, entry != values.end(), name, ": expected a value, found none");
  return entry->second;
}

Index to_index(const std::string& name, const std::string& text) {
  Index value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  check_as(ErrorKind::usage, error == std::errc{} && end == text.data() + text.size() && value >= 0,
           name, ": expected a number of 0 or more, found '", text, "'");
  return value;
}

}  // namespace

std::optional<std::string> Request::header(const std::string& lower_case_name) const {
  const auto entry = headers.find(lower_case_name);
  if (entry == headers.end()) return std::nullopt;
  return entry->second;
}

const std::string& Request::path_parameter(const std::string& name) const {
  return value_of(path_parameters, name);
}

Index Request::path_index(const std::string& name) const {
  return to_index(name, path_parameter(name));
}

const std::string& Request::query_value(const std::string& name) const {
  return value_of(query, name);
}

Index Request::query_index(const std::string& name) const {
  return to_index(name, query_value(name));
}

Index Request::query_index_or(const std::string& name, Index fallback) const {
  return query.contains(name) ? query_index(name) : fallback;
}

nlohmann::json Request::json() const {
  check_as(ErrorKind::data, num_values(body) <= max_json_values, "request: expected at most ",
           max_json_values, " values of JSON, found more");
  nlohmann::json value = io::parse_strict_json(body, "request", max_json_depth, ErrorKind::data);
  check_as(ErrorKind::data, value.is_object(), "request: expected a JSON object, found ",
           value.type_name());
  return value;
}

}  // namespace heed::serve
