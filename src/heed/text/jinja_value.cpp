#include "heed/text/jinja_value.h"

#include <algorithm>

#include "heed/text/code_points.h"
#include "heed/text/jinja_run.h"
#include "heed/text/python_text.h"

namespace heed::text::jinja {
namespace {

constexpr int max_depth = 100;  // of lists and dicts inside each other

int depth_of(const Value& value) {
  if (const List* list = value.list()) return list->depth;
  if (const Dict* dict = value.dict()) return dict->depth;
  return 0;
}

// The depth of what holds this value as well.
int depth_around(Run& run, const Value& value, int depth) {
  if (!value.is_data()) {
    run.fail("expected data as the element of a list or dict, found a ", type_name(value),
             ", which is not supported");
  }
  depth = std::max(depth, depth_of(value) + 1);
  if (depth > max_depth) {
    run.fail("expected at most ", max_depth, " lists and dicts inside each other");
  }
  return depth;
}

}  // namespace

const Value* Dict::find(std::string_view key) const {
  const auto place = places.find(key);
  return place == places.end() ? nullptr : &items[place->second].second;
}

void Dict::set(std::string key, Value value) {
  const auto [place, is_new] = places.try_emplace(key, items.size());
  if (is_new) {
    items.emplace_back(std::move(key), std::move(value));
  } else {
    items[place->second].second = std::move(value);
  }
}

const std::string* Value::text() const {
  const Text* text = std::get_if<Text>(&data);
  return text ? text->get() : nullptr;
}

const List* Value::list() const {
  const auto* list = std::get_if<std::shared_ptr<const List>>(&data);
  return list ? list->get() : nullptr;
}

const Dict* Value::dict() const {
  const auto* dict = std::get_if<std::shared_ptr<const Dict>>(&data);
  return dict ? dict->get() : nullptr;
}

const std::int64_t* Value::integer(std::int64_t& of_bool) const {
  if (const bool* value = std::get_if<bool>(&data)) {
    of_bool = *value ? 1 : 0;
    return &of_bool;
  }
  return std::get_if<std::int64_t>(&data);
}

double Value::number() const {
  std::int64_t of_bool = 0;
  const std::int64_t* whole = integer(of_bool);
  return whole ? static_cast<double>(*whole) : std::get<double>(data);
}

Value undefined(std::string what) {
  return {Undefined{std::make_shared<const std::string>(std::move(what))}};
}

Value text_value(Run& run, std::string text) {
  run.charge_text(text.size());
  return {std::make_shared<const std::string>(std::move(text))};
}

Value list_value(Run& run, std::vector<Value> items, List::Kind kind) {
  run.charge_list(items.size());
  auto list = std::make_shared<List>();
  for (const Value& item : items) list->depth = depth_around(run, item, list->depth);
  list->items = std::move(items);
  list->kind = kind;
  return {std::shared_ptr<const List>(std::move(list))};
}

Value dict_value(Run& run, Dict dict) {
  run.charge_list(4 * dict.items.size());
  for (const auto& [key, value] : dict.items) dict.depth = depth_around(run, value, dict.depth);
  return {std::make_shared<const Dict>(std::move(dict))};
}

bool is_true(const Value& value) {
  if (value.is_undefined() || value.is_none()) return false;
  if (value.is_number()) return value.number() != 0;
  if (const std::string* text = value.text()) return !text->empty();
  if (const Dict* dict = value.dict()) return !dict->items.empty();
  if (const List* list = value.list()) {
    return list->kind == List::Kind::generator || !list->items.empty();
  }
  return true;
}

namespace {

std::string_view type_of_list(List::Kind kind) {
  switch (kind) {
    case List::Kind::list:
      return "list";
    case List::Kind::tuple:
      return "tuple";
    case List::Kind::view:
      return "range or view of a dict";
    default:
      return "generator";
  }
}

}  // namespace

std::string_view type_name(const Value& value) {
  static constexpr std::string_view names[] = {
      "undefined value", "None", "bool",  "int",      "float", "str", "list", "dict",
      "namespace",       "loop", "macro", "function", "method"};
  const List* list = value.list();
  return list ? type_of_list(list->kind) : names[value.data.index()];
}

namespace {

bool equal_lists(Run& run, const List& a, const List& b) {
  if (&a == &b) return true;
  if (a.kind != b.kind || a.items.size() != b.items.size()) return false;
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    if (!equal(run, a.items[i], b.items[i])) return false;
  }
  return true;
}

bool equal_dicts(Run& run, const Dict& a, const Dict& b) {
  if (&a == &b) return true;
  if (a.items.size() != b.items.size()) return false;
  for (const auto& [key, value] : a.items) {
    const Value* other = b.find(key);
    if (!other || !equal(run, value, *other)) return false;
  }
  return true;
}

// Integers are compared as such, where a double would round them.
bool equal_numbers(const Value& a, const Value& b) {
  std::int64_t bool_a = 0, bool_b = 0;
  const std::int64_t* whole_a = a.integer(bool_a);
  const std::int64_t* whole_b = b.integer(bool_b);
  return whole_a && whole_b ? *whole_a == *whole_b : a.number() == b.number();
}

bool less_numbers(const Value& a, const Value& b) {
  std::int64_t bool_a = 0, bool_b = 0;
  const std::int64_t* whole_a = a.integer(bool_a);
  const std::int64_t* whole_b = b.integer(bool_b);
  return whole_a && whole_b ? *whole_a < *whole_b : a.number() < b.number();
}

bool less_lists(Run& run, const List& a, const List& b) {
  const std::size_t both = std::min(a.items.size(), b.items.size());
  for (std::size_t i = 0; i < both; ++i) {
    if (!equal(run, a.items[i], b.items[i])) return less(run, a.items[i], b.items[i]);
  }
  return a.items.size() < b.items.size();
}

}  // namespace

bool equal(Run& run, const Value& a, const Value& b) {
  run.charge(1);
  if (a.is_number() && b.is_number()) return equal_numbers(a, b);
  if (a.data.index() != b.data.index()) return false;
  if (a.is_undefined() || a.is_none()) return true;
  if (a.is_text()) {
    run.charge_text(std::min(a.text()->size(), b.text()->size()));
    return *a.text() == *b.text();
  }
  if (a.list()) return equal_lists(run, *a.list(), *b.list());
  if (a.dict()) return equal_dicts(run, *a.dict(), *b.dict());
  run.fail("expected data on both sides of a comparison, found a ", type_name(a));
}

bool less(Run& run, const Value& a, const Value& b) {
  run.charge(1);
  if (a.is_number() && b.is_number()) return less_numbers(a, b);
  if (a.is_text() && b.is_text()) {
    run.charge_text(std::min(a.text()->size(), b.text()->size()));
    return *a.text() < *b.text();  // bytes of UTF-8 are in the order of their characters
  }
  const List* first = a.list();
  const List* second = b.list();
  if (first && second && first->kind == second->kind && first->kind <= List::Kind::tuple) {
    return less_lists(run, *first, *second);
  }
  run.fail("expected two values that can be ordered, found a ", type_name(a), " and a ",
           type_name(b));
}

namespace {

std::vector<Value> characters(Run& run, const std::string& text) {
  run.charge_list(text.size());
  std::vector<Value> items;
  for (std::size_t at = 0; at < text.size();) {
    items.push_back(text_value(run, to_utf8(next_code_point(text, at))));
  }
  return items;
}

std::vector<Value> keys(Run& run, const Dict& dict) {
  std::vector<Value> items;
  for (const auto& [key, value] : dict.items) items.push_back(text_value(run, key));
  return items;
}

}  // namespace

std::vector<Value> elements(Run& run, const Value& value) {
  if (value.is_undefined()) return {};
  if (value.is_text()) return characters(run, *value.text());
  if (value.dict()) return keys(run, *value.dict());
  const List* list = value.list();
  if (!list) run.fail("expected a list to walk over, found a ", type_name(value));
  if (list->kind == List::Kind::generator && std::exchange(list->is_used, true)) {
    run.fail("expected the results of a filter to be used once; the filter `list` keeps them");
  }
  run.charge_list(list->items.size());
  return list->items;
}

std::int64_t length(Run& run, const Value& value) {
  if (value.is_undefined()) return 0;
  if (value.is_text()) {
    run.charge_text(value.text()->size());
    return static_cast<std::int64_t>(count_code_points(*value.text()));
  }
  if (value.dict()) return std::ssize(value.dict()->items);
  const List* list = value.list();
  if (!list || list->kind == List::Kind::generator) {
    run.fail("expected a value that has a length, found a ", type_name(value));
  }
  return std::ssize(list->items);
}

namespace {

std::string repr_list(Run& run, const List& list) {
  const bool is_tuple = list.kind == List::Kind::tuple;
  std::string out = is_tuple ? "(" : "[";
  for (const Value& item : list.items) {
    if (out.size() > 1) out += ", ";
    out += to_repr(run, item);
  }
  if (is_tuple && list.items.size() == 1) out += ",";
  return out += is_tuple ? ")" : "]";
}

std::string repr_dict(Run& run, const Dict& dict) {
  std::string out = "{";
  for (const auto& [key, value] : dict.items) {
    if (out.size() > 1) out += ", ";
    out += python::repr(key) + ": " + to_repr(run, value);
  }
  return out += "}";
}

}  // namespace

std::string to_repr(Run& run, const Value& value) {
  run.charge(1);
  if (value.is_undefined()) return "Undefined";
  if (value.is_text()) {
    run.charge_text(4 * value.text()->size());
    return python::repr(*value.text());
  }
  const List* list = value.list();
  if (list && list->kind <= List::Kind::tuple) return repr_list(run, *list);
  if (value.dict()) return repr_dict(run, *value.dict());
  return to_text(run, value);
}

std::string to_text(Run& run, const Value& value) {
  run.charge(1);
  if (value.is_undefined()) return "";
  if (value.is_none()) return "None";
  if (const bool* boolean = std::get_if<bool>(&value.data)) return *boolean ? "True" : "False";
  if (const auto* number = std::get_if<std::int64_t>(&value.data)) return std::to_string(*number);
  if (const double* number = std::get_if<double>(&value.data)) return python::repr(*number);
  if (value.is_text()) {
    run.charge_text(value.text()->size());
    return *value.text();
  }
  const List* list = value.list();
  if (value.dict() || (list && list->kind <= List::Kind::tuple)) return to_repr(run, value);
  run.fail("expected data to print, found a ", type_name(value));
}

}  // namespace heed::text::jinja
