#include "heed/text/jinja_string_methods.h"

#include <algorithm>
#include <optional>

#include "heed/text/code_points.h"
#include "heed/text/jinja_run.h"
#include "heed/text/python_text.h"
#include "heed/text/unicode_classes.h"

namespace heed::text::jinja {
namespace {

using python::Side;

std::optional<std::string_view> optional_text(Run& run, const Bound& bound, std::size_t parameter) {
  const Value* value = bound.find(parameter);
  if (!value || value->is_none()) return std::nullopt;
  if (!value->is_text()) run.fail("expected a string, found a ", type_name(*value));
  return *value->text();
}

Value texts(Run& run, const std::vector<std::string>& parts, List::Kind kind = List::Kind::list) {
  std::vector<Value> items;
  for (const std::string& part : parts) items.push_back(text_value(run, part));
  return list_value(run, std::move(items), kind);
}

template <Side side>
Value strip(Run& run, const std::string& self, const Arguments& arguments) {
  const Bound bound(run, "strip", arguments, {"chars"});
  return text_value(run, std::string(python::strip(self, side, optional_text(run, bound, 0))));
}

template <Side from>
Value split(Run& run, const std::string& self, const Arguments& arguments) {
  const Bound bound(run, "split", arguments, {"sep", "maxsplit"});
  const auto max_splits = static_cast<std::ptrdiff_t>(bound.integer_or(1, -1));
  const auto separator = optional_text(run, bound, 0);
  if (!separator) return texts(run, python::split_at_spaces(self, max_splits, from));
  if (separator->empty()) run.fail("split: expected a separator, found an empty string");
  run.charge_text(4 * self.size());
  return texts(run, python::split(self, *separator, max_splits, from));
}

Value split_lines(Run& run, const std::string& self, const Arguments& arguments) {
  const Bound bound(run, "splitlines", arguments, {"keepends"});
  return texts(run, python::split_lines(self, bound.boolean_or(0, false)));
}

template <Side from>
Value partition(Run& run, const std::string& self, const Arguments& arguments) {
  const Bound bound(run, "partition", arguments, {"sep"});
  const std::string& separator = bound.text(0);
  if (separator.empty()) run.fail("partition: expected a separator, found an empty string");
  std::vector<std::string> parts = python::split(self, separator, 1, from);
  if (parts.size() == 2) {
    parts.insert(parts.begin() + 1, separator);
  } else {
    parts.insert(from == Side::left ? parts.end() : parts.begin(), 2, "");
  }
  return texts(run, parts, List::Kind::tuple);
}

bool has_side(std::string_view self, std::string_view part, Side side) {
  return side == Side::left ? self.starts_with(part) : self.ends_with(part);
}

// startswith and endswith: of one string or of one in a tuple.
template <Side side>
Value has_part(Run& run, const std::string& self, const Arguments& arguments) {
  const Bound bound(run, "startswith", arguments, {"prefix"});
  const Value& part = bound.required(0);
  const bool is_tuple = part.list() && part.list()->kind == List::Kind::tuple;
  if (!is_tuple) return {has_side(self, bound.text(0), side)};
  for (const Value& item : part.list()->items) {
    if (!item.is_text()) run.fail("startswith: expected strings, found a ", type_name(item));
    if (has_side(self, *item.text(), side)) return {true};
  }
  return {false};
}

template <Side side>
Value remove_part(Run& run, const std::string& self, const Arguments& arguments) {
  const Bound bound(run, "removeprefix", arguments, {"prefix"});
  const std::string& part = bound.text(0);
  if (!has_side(self, part, side)) return text_value(run, self);
  return text_value(run, side == Side::left ? self.substr(part.size())
                                            : self.substr(0, self.size() - part.size()));
}

template <std::string (*change)(std::string_view)>
Value with_case(Run& run, const std::string& self, const Arguments& arguments) {
  const Bound bound(run, "a method of case", arguments, {});
  run.charge_text(16 * self.size());
  return text_value(run, change(self));
}

Value replace(Run& run, const std::string& self, const Arguments& arguments) {
  const Bound bound(run, "replace", arguments, {"old", "new", "count"});
  return replaced(run, self, bound.text(0), bound.text(1), bound.integer_or(2, -1));
}

Value join(Run& run, const std::string& self, const Arguments& arguments) {
  const Bound bound(run, "join", arguments, {"iterable"});
  std::string out;
  bool is_first = true;
  for (const Value& item : elements(run, bound.required(0))) {
    if (!item.is_text()) run.fail("join: expected strings, found a ", type_name(item));
    if (!std::exchange(is_first, false)) run.append(out, self);
    run.append(out, *item.text());
  }
  return text_value(run, std::move(out));
}

// find, rfind, index: the place in characters, -1 for none.
std::int64_t place_of(Run& run, const std::string& self, const Arguments& arguments, bool is_last) {
  const Bound bound(run, "find", arguments, {"sub"});
  const std::size_t place = is_last ? self.rfind(bound.text(0)) : self.find(bound.text(0));
  run.charge_text(4 * self.size());
  if (place == self.npos) return -1;
  return static_cast<std::int64_t>(count_code_points(std::string_view(self).substr(0, place)));
}

template <bool is_last>
Value find(Run& run, const std::string& self, const Arguments& arguments) {
  return {place_of(run, self, arguments, is_last)};
}

Value index(Run& run, const std::string& self, const Arguments& arguments) {
  const std::int64_t place = place_of(run, self, arguments, false);
  if (place < 0) run.fail("index: expected a part of the string, found another one");
  return {place};
}

// How often the part is found, from the left; nothing is found between all characters.
std::int64_t occurrences(Run& run, const std::string& text, const std::string& part) {
  run.charge_text(4 * text.size());
  if (part.empty()) return static_cast<std::int64_t>(count_code_points(text)) + 1;
  std::int64_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) {
    ++found;
  }
  return found;
}

Value count(Run& run, const std::string& self, const Arguments& arguments) {
  const Bound bound(run, "count", arguments, {"sub"});
  return {occurrences(run, self, bound.text(0))};
}

bool is_ascii_digit(char32_t c) { return c >= U'0' && c <= U'9'; }
bool is_ascii_letter(char32_t c) { return (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z'); }
bool is_ascii_letter_or_digit(char32_t c) { return is_ascii_letter(c) || is_ascii_digit(c); }
bool is_space(char32_t c) { return python::is_space(c); }

// Are all characters of this kind? Of others than ASCII only white space is known here.
template <bool (*is_kind)(char32_t)>
Value all(Run& run, const std::string& self, const Arguments& arguments) {
  const Bound bound(run, "a method of character classes", arguments, {});
  run.charge_text(4 * self.size());
  bool is_all = !self.empty();
  for (const char32_t c : to_code_points(self)) {
    if (c >= 0x80 && is_kind != is_space) {
      run.fail("isdigit, isalpha and isalnum of other characters than ASCII are not supported");
    }
    is_all = is_all && is_kind(c);
  }
  return {is_all};
}

using StringMethod = Value (*)(Run& run, const std::string& self, const Arguments& arguments);

constexpr std::pair<std::string_view, StringMethod> methods[] = {
    {"capitalize", with_case<python::capitalize>},
    {"count", count},
    {"endswith", has_part<Side::right>},
    {"find", find<false>},
    {"index", index},
    {"isalnum", all<is_ascii_letter_or_digit>},
    {"isalpha", all<is_ascii_letter>},
    {"isdigit", all<is_ascii_digit>},
    {"isspace", all<is_space>},
    {"join", join},
    {"lower", with_case<python::lower>},
    {"lstrip", strip<Side::left>},
    {"partition", partition<Side::left>},
    {"removeprefix", remove_part<Side::left>},
    {"removesuffix", remove_part<Side::right>},
    {"replace", replace},
    {"rfind", find<true>},
    {"rpartition", partition<Side::right>},
    {"rsplit", split<Side::right>},
    {"rstrip", strip<Side::right>},
    {"split", split<Side::left>},
    {"splitlines", split_lines},
    {"startswith", has_part<Side::left>},
    {"strip", strip<Side::both>},
    {"title", with_case<python::title>},
    {"upper", with_case<python::upper>},
};

constexpr std::string_view other_methods[] = {
    "casefold",  "center",       "encode",  "expandtabs", "format",      "format_map", "isascii",
    "isdecimal", "isidentifier", "islower", "isnumeric",  "isprintable", "istitle",    "isupper",
    "ljust",     "maketrans",    "rindex",  "rjust",      "swapcase",    "translate",  "zfill"};

StringMethod find_method(std::string_view name) {
  for (const auto& [known, method] : methods) {
    if (known == name) return method;
  }
  return nullptr;
}

}  // namespace

Value replaced(Run& run, const std::string& text, const std::string& old, const std::string& with,
               std::int64_t count) {
  std::int64_t found = occurrences(run, text, old);
  if (count >= 0) found = std::min(found, count);
  const std::size_t limit = run.limits().max_output;
  if (found > 0 && with.size() > limit / static_cast<std::size_t>(found)) {
    run.fail("replace: expected a result of at most ", limit, " bytes");
  }
  return text_value(run, python::replace(text, old, with, static_cast<std::ptrdiff_t>(found)));
}

bool is_string_method(std::string_view name) { return find_method(name) != nullptr; }

bool is_other_string_method(std::string_view name) {
  return std::find(std::begin(other_methods), std::end(other_methods), name) !=
         std::end(other_methods);
}

Value call_string_method(Run& run, const std::string& self, std::string_view name,
                         const Arguments& arguments) {
  return find_method(name)(run, self, arguments);
}

}  // namespace heed::text::jinja
