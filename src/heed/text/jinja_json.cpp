#include "heed/text/jinja_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "heed/text/code_points.h"
#include "heed/text/jinja_run.h"
#include "heed/text/python_text.h"

namespace heed::text::jinja {
namespace {

Value from_number(Run& run, const nlohmann::ordered_json& json) {
  if (json.is_number_float()) return {json.get<double>()};
  if (json.is_number_unsigned() &&
      json.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) {
    run.fail("expected integers of at most ", INT64_MAX, ", found ", json.get<std::uint64_t>());
  }
  return {json.get<std::int64_t>()};
}

}  // namespace

Value from_json(Run& run, const nlohmann::ordered_json& json) {
  const Run::Level level(run);
  if (json.is_null()) return {None{}};
  if (json.is_boolean()) return {json.get<bool>()};
  if (json.is_number()) return from_number(run, json);
  if (json.is_string()) return text_value(run, repair_utf8(json.get_ref<const std::string&>()));
  if (json.is_object()) {
    Dict dict;
    for (const auto& [key, value] : json.items()) dict.set(repair_utf8(key), from_json(run, value));
    return dict_value(run, std::move(dict));
  }
  std::vector<Value> items;
  for (const auto& item : json) items.push_back(from_json(run, item));
  return list_value(run, std::move(items));
}

namespace {

class JsonWriter {
 public:
  JsonWriter(Run& run, const JsonStyle& style) : run_(run), style_(style) {}

  std::string take() { return std::move(out_); }

  void write(const Value& value) {
    run_.charge(1);
    if (value.is_text()) return write_text(*value.text());
    if (value.dict()) return write_dict(*value.dict());
    if (value.list() && value.list()->kind <= List::Kind::tuple) return write_list(*value.list());
    out_ += plain(value);
  }

 private:
  std::string plain(const Value& value) {
    if (value.is_none()) return "null";
    if (const bool* boolean = std::get_if<bool>(&value.data)) return *boolean ? "true" : "false";
    if (const double* number = std::get_if<double>(&value.data)) {
      if (std::isnan(*number)) return "NaN";
      if (std::isinf(*number)) return *number < 0 ? "-Infinity" : "Infinity";
    }
    if (value.is_number()) return to_text(run_, value);
    run_.fail("tojson: expected data, found a ", type_name(value));
  }

  void write_text(const std::string& text) {
    run_.charge_text(2 * text.size());
    out_ += '"';
    for (std::size_t at = 0; at < text.size();) write_character(next_code_point(text, at));
    out_ += '"';
  }

  void write_character(char32_t c) {
    static constexpr std::string_view escaped = "\"\\\n\r\t\b\f", letters = "\"\\nrtbf";
    const std::size_t place = c < 0x80 ? escaped.find(static_cast<char>(c)) : escaped.npos;
    if (place != escaped.npos) {
      (out_ += '\\') += letters[place];
    } else if (c < 0x20 || (style_.only_ascii && c > 0x7F && c < 0x10000)) {
      out_ += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(c));
    } else if (style_.only_ascii && c >= 0x10000) {
      const std::uint32_t rest = static_cast<std::uint32_t>(c) - 0x10000;
      out_ += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
    } else {
      append_utf8(out_, c);
    }
  }

  void write_list(const List& list) {
    if (list.items.empty()) {
      out_ += "[]";
      return;
    }
    out_ += '[';
    ++depth_;
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      if (i > 0) out_ += style_.item_separator;
      start_line();
      write(list.items[i]);
    }
    --depth_;
    start_line();
    out_ += ']';
  }

  void write_dict(const Dict& dict) {
    if (dict.items.empty()) {
      out_ += "{}";
      return;
    }
    out_ += '{';
    ++depth_;
    bool is_first = true;
    for (const std::size_t i : order(dict)) {
      if (!std::exchange(is_first, false)) out_ += style_.item_separator;
      start_line();
      write_text(dict.items[i].first);
      out_ += style_.key_separator;
      write(dict.items[i].second);
    }
    --depth_;
    start_line();
    out_ += '}';
  }

  std::vector<std::size_t> order(const Dict& dict) const {
    std::vector<std::size_t> places;
    if (style_.sort_keys) {
      for (const auto& [key, place] : dict.places) places.push_back(place);
    } else {
      for (std::size_t i = 0; i < dict.items.size(); ++i) places.push_back(i);
    }
    return places;
  }

  void start_line() {
    if (!style_.indent) return;
    out_ += '\n';
    run_.charge_text(static_cast<std::size_t>(depth_) * style_.indent->size());
    for (int i = 0; i < depth_; ++i) out_ += *style_.indent;
  }

  Run& run_;
  const JsonStyle& style_;
  std::string out_;
  int depth_ = 0;
};

}  // namespace

std::string to_json(Run& run, const Value& value, const JsonStyle& style) {
  JsonWriter writer(run, style);
  writer.write(value);
  return writer.take();
}

}  // namespace heed::text::jinja
