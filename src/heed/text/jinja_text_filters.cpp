// Filters that make text.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "heed/text/code_points.h"
#include "heed/text/jinja_filters.h"
#include "heed/text/jinja_json.h"
#include "heed/text/jinja_run.h"
#include "heed/text/jinja_string_methods.h"
#include "heed/text/python_text.h"

namespace heed::text::jinja {
namespace {

Value string(Run& run, const Value& value, const Arguments& arguments) {
  const Bound bound(run, "string", arguments, {});
  return text_value(run, to_text(run, value));
}

Value trim(Run& run, const Value& value, const Arguments& arguments) {
  const Bound bound(run, "trim", arguments, {"chars"});
  const bool has_characters = bound.find(0) && !bound.find(0)->is_none();
  std::optional<std::string_view> characters;
  if (has_characters) characters = bound.text(0);
  const std::string text = to_text(run, value);
  return text_value(run, std::string(python::strip(text, python::Side::both, characters)));
}

template <std::string (*change)(std::string_view)>
Value with_case(Run& run, const Value& value, const Arguments& arguments) {
  const Bound bound(run, "a filter of case", arguments, {});
  const std::string text = to_text(run, value);
  run.charge_text(16 * text.size());
  return text_value(run, change(text));
}

// The filter begins a word only after white space and some brackets, unlike Python's method.
std::string title_words(std::string_view text) {
  std::string out, word;
  const auto end_word = [&] {
    std::size_t first = 0;
    if (!word.empty()) next_code_point(word, first);
    out += python::upper(std::string_view(word).substr(0, first));
    out += python::lower(std::string_view(word).substr(first));
    word.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    const bool is_between =
        python::is_space(c) || std::u32string_view(U"-({[<").find(c) != std::u32string_view::npos;
    if (is_between) end_word();
    append_utf8(is_between ? out : word, c);
  }
  end_word();
  return out;
}

Value replace(Run& run, const Value& value, const Arguments& arguments) {
  const Bound bound(run, "replace", arguments, {"old", "new", "count"});
  return replaced(run, to_text(run, value), to_text(run, bound.required(0)),
                  to_text(run, bound.required(1)), bound.integer_or(2, -1));
}

std::string spaces(Run& run, std::int64_t count) {
  constexpr std::int64_t most = 1000;
  if (count > most) run.fail("expected an indentation of at most ", most, ", found ", count);
  return std::string(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)), ' ');
}

std::string indentation(Run& run, const Bound& bound, std::size_t parameter, int fallback) {
  const Value* width = bound.find(parameter);
  if (width && width->is_text()) return *width->text();
  return spaces(run, bound.integer_or(parameter, fallback));
}

Value indent(Run& run, const Value& value, const Arguments& arguments) {
  const Bound bound(run, "indent", arguments, {"width", "first", "blank"});
  const std::string text = to_text(run, value), space = indentation(run, bound, 0, 4);
  const bool blank_too = bound.boolean_or(2, false);
  std::string out;
  if (bound.boolean_or(1, false)) run.append(out, space);
  bool is_first = true;
  for (const std::string& line : python::split_lines(text + "\n", false)) {
    if (!is_first) run.append(out, "\n");
    if (!is_first && (blank_too || !line.empty())) run.append(out, space);
    run.append(out, line);
    is_first = false;
  }
  return text_value(run, std::move(out));
}

// As `transformers` has it; its first argument is not the indentation.
Value tojson(Run& run, const Value& value, const Arguments& arguments) {
  const Bound bound(run, "tojson", arguments,
                    {"ensure_ascii", "indent", "separators", "sort_keys"});
  JsonStyle style{.only_ascii = bound.boolean_or(0, false),
                  .sort_keys = bound.boolean_or(3, false)};
  if (bound.find(1) && !bound.find(1)->is_none()) {
    style.indent = indentation(run, bound, 1, 0);
    style.item_separator = std::string(1, ',');
  }
  if (const Value* separators = bound.find(2); separators && !separators->is_none()) {
    const List* list = separators->list();
    if (!list || list->items.size() != 2 || !list->items[0].is_text() ||
        !list->items[1].is_text()) {
      run.fail("tojson: expected two strings as `separators`");
    }
    style.item_separator = *list->items[0].text();
    style.key_separator = *list->items[1].text();
  }
  return text_value(run, to_json(run, value, style));
}

// Python's float(): the number of a text, none when it is not one.
std::optional<double> number_of(std::string_view text) {
  text = python::strip(text);
  std::string digits;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto is_digit = [&](std::size_t at) {
      return at < text.size() && text[at] >= '0' && text[at] <= '9';
    };
    if (text[i] == '_' && i > 0 && is_digit(i - 1) && is_digit(i + 1)) continue;
    digits += text[i];
  }
  std::string_view rest = digits;
  if (rest.starts_with('+')) rest.remove_prefix(1);
  if (rest.empty() || (rest.size() < digits.size() && (rest[0] == '-' || rest[0] == '+'))) {
    return std::nullopt;
  }
  double number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (end != rest.data() + rest.size() || rest.find('(') != rest.npos) return std::nullopt;
  if (error == std::errc()) return number;
  return std::strtod(std::string(rest).c_str(), nullptr);  // out of range: 0 or infinity
}

std::optional<double> floating(const Value& value) {
  if (value.is_number()) return value.number();
  return value.is_text() ? number_of(*value.text()) : std::nullopt;
}

Value to_float(Run& run, const Value& value, const Arguments& arguments) {
  const Bound bound(run, "float", arguments, {"default"});
  if (const std::optional<double> number = floating(value)) return {*number};
  return bound.find(0) ? *bound.find(0) : Value{0.0};
}

// A text of digits alone, which may be larger than a double holds exactly.
std::optional<std::int64_t> whole_number(std::string_view text) {
  text = python::strip(text);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_all = !text.empty() && end == text.data() + text.size();
  return is_all && error == std::errc() ? std::optional(number) : std::nullopt;
}

Value to_int(Run& run, const Value& value, const Arguments& arguments) {
  const Bound bound(run, "int", arguments, {"default", "base"});
  if (bound.integer_or(1, 10) != 10) run.fail("int: another base than 10 is not supported");
  std::int64_t of_bool = 0;
  if (const std::int64_t* number = value.integer(of_bool)) return {*number};
  if (value.is_text()) {
    if (const auto number = whole_number(*value.text())) return {*number};
  }
  const std::optional<double> number = floating(value);
  if (number && std::isfinite(*number)) {
    constexpr double limit = 9.2e18;
    if (std::abs(*number) > limit)
      run.fail("int: expected an integer of 64 bits, found a larger one");
    return {static_cast<std::int64_t>(*number)};
  }
  return bound.find(0) ? *bound.find(0) : Value{std::int64_t{0}};
}

constexpr std::pair<std::string_view, Filter> filters[] = {
    {"capitalize", with_case<python::capitalize>},
    {"float", to_float},
    {"indent", indent},
    {"int", to_int},
    {"lower", with_case<python::lower>},
    {"replace", replace},
    {"string", string},
    {"title", with_case<title_words>},
    {"tojson", tojson},
    {"trim", trim},
    {"upper", with_case<python::upper>},
};

}  // namespace

Filter find_text_filter(std::string_view name) {
  for (const auto& [known, filter] : filters) {
    if (known == name) return filter;
  }
  return nullptr;
}

}  // namespace heed::text::jinja
