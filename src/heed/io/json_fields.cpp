#include "heed/io/json_fields.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "heed/base/printable.h"
#include "heed/io/files.h"
#include "heed/io/strict_json.h"

namespace heed::io {
namespace {

using nlohmann::json;

constexpr int max_depth = 64;

// Part of a message.
std::string to_text(const json& value) {
  return excerpt(value.dump(-1, ' ', true, json::error_handler_t::replace));
}

// "a positive integer", "an integer of at least 2", "a number from 0 to 1", ...
template <typename Range>
std::string describe(const std::string& what, const Range& range) {
  const bool has_min = range.min != Range{}.min;
  const bool has_max = range.max != Range{}.max;
  std::ostringstream text;
  text << what;
  if (has_min && has_max) text << " from " << range.min << " to " << range.max;
  if (has_min && !has_max) text << " of at least " << range.min;
  if (!has_min && has_max) text << " of at most " << range.max;
  return text.str();
}

std::string describe_integer(IntegerRange range) {
  const bool is_positive = range.min == 1 && range.max == IntegerRange{}.max;
  return is_positive ? "a positive integer" : describe("an integer", range);
}

std::string describe_choice(std::initializer_list<std::string_view> allowed) {
  std::string text = "one of";
  const char* separator = " ";
  for (const std::string_view one : allowed) {
    text.append(std::exchange(separator, ", ")).append(one);
  }
  return text;
}

}  // namespace

JsonFields::JsonFields(std::shared_ptr<const nlohmann::json> object, std::string prefix,
                       ErrorKind kind)
    : object_(std::move(object)), prefix_(std::move(prefix)), kind_(kind) {}

JsonFields JsonFields::load(const std::string& path, ErrorKind kind) {
  return parse(read_file(path, kind, max_config_bytes), path, kind);
}

JsonFields JsonFields::parse(std::string_view text, const std::string& source, ErrorKind kind) {
  return of(parse_strict_json(text, source, max_depth, kind), source, kind);
}

JsonFields JsonFields::of(nlohmann::json object, const std::string& source, ErrorKind kind) {
  check_as(kind, object.is_object(), source, ": expected a JSON object, found ", to_text(object));
  return {std::make_shared<const nlohmann::json>(std::move(object)), source + ": ", kind};
}

void JsonFields::refuse(const std::string& name, const std::string& expected,
                        const nlohmann::json& value) const {
  fail(kind_, prefix_, name, ": expected ", expected, ", found ", to_text(value));
}

bool JsonFields::has(const std::string& name) const {
  const auto value = object_->find(name);
  return value != object_->end() && !value->is_null();
}

std::vector<std::string> JsonFields::names() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : object_->items()) {
    if (!value.is_null()) names.push_back(name);
  }
  return names;
}

const nlohmann::json& JsonFields::field(const std::string& name) const {
  check_as(kind_, has(name), prefix_, name, ": expected this field, found none");
  return *object_->find(name);
}

const nlohmann::json& JsonFields::list(const std::string& name) const {
  const nlohmann::json& value = field(name);
  if (!value.is_array()) refuse(name, "a list", value);
  return value;
}

std::int64_t JsonFields::to_integer(const std::string& name, const nlohmann::json& value,
                                    IntegerRange range) const {
  const bool fits =
      value.is_number_integer() &&
      (!value.is_number_unsigned() || std::in_range<std::int64_t>(value.get<std::uint64_t>()));
  if (!fits) refuse(name, describe_integer(range), value);
  const auto integer = value.get<std::int64_t>();
  if (integer < range.min || integer > range.max) refuse(name, describe_integer(range), value);
  return integer;
}

double JsonFields::to_number(const std::string& name, const nlohmann::json& value,
                             NumberRange range) const {
  if (!value.is_number()) refuse(name, describe("a number", range), value);
  const auto number = value.get<double>();
  if (number < range.min || number > range.max) refuse(name, describe("a number", range), value);
  return number;
}

std::int64_t JsonFields::integer(const std::string& name, IntegerRange range) const {
  return to_integer(name, field(name), range);
}

std::int64_t JsonFields::integer_or(const std::string& name, std::int64_t fallback,
                                    IntegerRange range) const {
  return has(name) ? integer(name, range) : fallback;
}

std::optional<std::int64_t> JsonFields::optional_integer(const std::string& name,
                                                         IntegerRange range) const {
  return has(name) ? std::optional(integer(name, range)) : std::nullopt;
}

double JsonFields::number(const std::string& name, NumberRange range) const {
  return to_number(name, field(name), range);
}

double JsonFields::number_or(const std::string& name, double fallback, NumberRange range) const {
  return has(name) ? number(name, range) : fallback;
}

bool JsonFields::boolean(const std::string& name) const {
  const nlohmann::json& value = field(name);
  if (!value.is_boolean()) refuse(name, "true or false", value);
  return value.get<bool>();
}

bool JsonFields::boolean_or(const std::string& name, bool fallback) const {
  return has(name) ? boolean(name) : fallback;
}

std::string JsonFields::text(const std::string& name) const {
  const nlohmann::json& value = field(name);
  if (!value.is_string()) refuse(name, "a string", value);
  return value.get<std::string>();
}

std::string JsonFields::text_or(const std::string& name, std::string fallback) const {
  return has(name) ? text(name) : std::move(fallback);
}

std::optional<std::string> JsonFields::optional_text(const std::string& name) const {
  return has(name) ? std::optional(text(name)) : std::nullopt;
}

std::string JsonFields::choice(const std::string& name,
                               std::initializer_list<std::string_view> allowed) const {
  const nlohmann::json& value = field(name);
  const bool is_allowed =
      value.is_string() &&
      std::ranges::find(allowed, value.get_ref<const std::string&>()) != allowed.end();
  if (!is_allowed) refuse(name, describe_choice(allowed), value);
  return value.get<std::string>();
}

std::string JsonFields::choice_or(const std::string& name, std::string fallback,
                                  std::initializer_list<std::string_view> allowed) const {
  return has(name) ? choice(name, allowed) : std::move(fallback);
}

std::vector<std::int64_t> JsonFields::integers(const std::string& name, IntegerRange range) const {
  std::vector<std::int64_t> values;
  for (const nlohmann::json& value : list(name)) values.push_back(to_integer(name, value, range));
  return values;
}

std::vector<double> JsonFields::numbers(const std::string& name, NumberRange range) const {
  std::vector<double> values;
  for (const nlohmann::json& value : list(name)) values.push_back(to_number(name, value, range));
  return values;
}

std::vector<std::string> JsonFields::texts(const std::string& name) const {
  std::vector<std::string> values;
  for (const nlohmann::json& value : list(name)) {
    if (!value.is_string()) refuse(name, "a list of strings", value);
    values.push_back(value.get<std::string>());
  }
  return values;
}

JsonFields JsonFields::object(const std::string& name) const {
  const nlohmann::json& value = field(name);
  if (!value.is_object()) refuse(name, "an object", value);
  // Shares the whole, points at the part.
  return {std::shared_ptr<const nlohmann::json>(object_, &value), prefix_ + name + '.', kind_};
}

std::vector<JsonFields> JsonFields::optional_objects(const std::string& name) const {
  std::vector<JsonFields> objects;
  if (!has(name)) return objects;
  for (const nlohmann::json& value : list(name)) {
    const std::string place = name + '[' + std::to_string(objects.size()) + ']';
    if (!value.is_object()) refuse(place, "an object", value);
    const std::shared_ptr<const nlohmann::json> part(object_, &value);
    objects.push_back(JsonFields(part, prefix_ + place + '.', kind_));
  }
  return objects;
}

}  // namespace heed::io
