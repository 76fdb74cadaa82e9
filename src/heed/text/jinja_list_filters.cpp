// Filters of lists and dicts, and of any value.
#include <algorithm>
#include <cmath>

#include "heed/text/code_points.h"
#include "heed/text/jinja_filters.h"
#include "heed/text/jinja_operators.h"
#include "heed/text/jinja_run.h"
#include "heed/text/jinja_tests.h"
#include "heed/text/python_text.h"

namespace heed::text::jinja {
namespace {

constexpr List::Kind generator = List::Kind::generator;

// The arguments after the first `count`.
Arguments arguments_after(const Arguments& arguments, std::size_t count) {
  Arguments rest = arguments;
  rest.positional.erase(rest.positional.begin(),
                        rest.positional.begin() + static_cast<std::ptrdiff_t>(count));
  return rest;
}

const std::string& first_text(Run& run, std::string_view what, const Arguments& arguments,
                              std::size_t place = 0) {
  if (arguments.positional.size() <= place || !arguments.positional[place].is_text()) {
    run.fail(what, ": expected a name in quotes as argument ", place + 1);
  }
  return *arguments.positional[place].text();
}

bool is_number(std::string_view text) {
  return !text.empty() && text.size() < 10 &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

// "function.arguments.0": an element of an element.
Value nested_element(Run& run, Value value, const std::string& path) {
  for (const std::string& part : python::split(path, ".", -1, python::Side::left)) {
    value = element(run, value,
                    is_number(part) ? Value{std::int64_t{std::stoi(part)}} : text_value(run, part));
  }
  return value;
}

// By an attribute when there is one, and without regard to case.
Value sort_key(Run& run, const Value& value, const Value* path, bool with_case) {
  Value key = value;
  if (path && !path->is_none()) {
    std::int64_t of_bool = 0;
    if (path->is_text() && path->text()->find(',') != std::string::npos) {
      run.fail("more than one attribute in a filter is not supported");
    }
    key = path->is_text()          ? nested_element(run, value, *path->text())
          : path->integer(of_bool) ? element(run, value, *path)
                                   : value;
  }
  return key.is_text() && !with_case ? text_value(run, python::lower(*key.text())) : key;
}

Value default_value(Run& run, const Value& value, const Arguments& arguments) {
  const Bound bound(run, "default", arguments, {"default_value", "boolean"});
  const bool is_missing = value.is_undefined() || (bound.boolean_or(1, false) && !is_true(value));
  if (!is_missing) return value;
  return bound.find(0) ? *bound.find(0) : text_value(run, "");
}

Value length_of(Run& run, const Value& value, const Arguments& arguments) {
  const Bound bound(run, "length", arguments, {});
  return {length(run, value)};
}

Value first(Run& run, const Value& value, const Arguments& arguments) {
  const Bound bound(run, "first", arguments, {});
  std::vector<Value> items = elements(run, value);
  return items.empty() ? undefined("there is no first element") : items.front();
}

Value last(Run& run, const Value& value, const Arguments& arguments) {
  const Bound bound(run, "last", arguments, {});
  length(run, value);  // refuses generators
  std::vector<Value> items = elements(run, value);
  return items.empty() ? undefined("there is no last element") : items.back();
}

Value join(Run& run, const Value& value, const Arguments& arguments) {
  const Bound bound(run, "join", arguments, {"d", "attribute"});
  const std::string separator = bound.find(0) ? to_text(run, *bound.find(0)) : "";
  std::string out;
  bool is_first = true;
  for (const Value& item : elements(run, value)) {
    if (!std::exchange(is_first, false)) run.append(out, separator);
    run.append(out, to_text(run, sort_key(run, item, bound.find(1), true)));
  }
  return text_value(run, std::move(out));
}

Value list(Run& run, const Value& value, const Arguments& arguments) {
  const Bound bound(run, "list", arguments, {});
  return list_value(run, elements(run, value));
}

Value items_of(Run& run, const Value& value, const Arguments& arguments) {
  const Bound bound(run, "items", arguments, {});
  std::vector<Value> items;
  if (!value.is_undefined() && !value.dict()) {
    run.fail("items: expected a dict, found a ", type_name(value));
  }
  if (const Dict* dict = value.dict()) {
    for (const auto& [key, item] : dict->items) {
      items.push_back(list_value(run, {text_value(run, key), item}, List::Kind::tuple));
    }
  }
  return list_value(run, std::move(items), generator);
}

Value reverse(Run& run, const Value& value, const Arguments& arguments) {
  const Bound bound(run, "reverse", arguments, {});
  if (value.is_text()) {
    return slice(run, value, {None{}}, {None{}}, {std::int64_t{-1}});
  }
  if (!value.is_undefined()) length(run, value);
  std::vector<Value> items = elements(run, value);
  std::reverse(items.begin(), items.end());
  return list_value(run, std::move(items), generator);
}

void sort_by_keys(Run& run, std::vector<std::pair<Value, Value>>& items, bool is_reverse) {
  const auto is_before = [&](const auto& a, const auto& b) {
    return is_reverse ? less(run, b.first, a.first) : less(run, a.first, b.first);
  };
  std::stable_sort(items.begin(), items.end(), is_before);
}

Value sort(Run& run, const Value& value, const Arguments& arguments) {
  const Bound bound(run, "sort", arguments, {"reverse", "case_sensitive", "attribute"});
  std::vector<std::pair<Value, Value>> items;
  for (Value& item : elements(run, value)) {
    items.emplace_back(sort_key(run, item, bound.find(2), bound.boolean_or(1, false)), item);
  }
  sort_by_keys(run, items, bound.boolean_or(0, false));
  std::vector<Value> sorted;
  for (auto& [key, item] : items) sorted.push_back(std::move(item));
  return list_value(run, std::move(sorted));
}

Value dict_sort(Run& run, const Value& value, const Arguments& arguments) {
  const Bound bound(run, "dictsort", arguments, {"case_sensitive", "by", "reverse"});
  const bool by_value = bound.find(1) && bound.text(1) == "value";
  if (bound.find(1) && !by_value && bound.text(1) != "key") {
    run.fail("dictsort: expected 'key' or 'value', found '", bound.text(1), "'");
  }
  if (!value.dict()) run.fail("dictsort: expected a dict, found a ", type_name(value));
  std::vector<std::pair<Value, Value>> items;
  for (const auto& [key, item] : value.dict()->items) {
    const Value name = text_value(run, key);
    items.emplace_back(sort_key(run, by_value ? item : name, nullptr, bound.boolean_or(0, false)),
                       list_value(run, {name, item}, List::Kind::tuple));
  }
  sort_by_keys(run, items, bound.boolean_or(2, false));
  std::vector<Value> sorted;
  for (auto& [key, item] : items) sorted.push_back(std::move(item));
  return list_value(run, std::move(sorted));
}

Value unique(Run& run, const Value& value, const Arguments& arguments) {
  const Bound bound(run, "unique", arguments, {"case_sensitive", "attribute"});
  std::vector<Value> kept, keys;
  for (Value& item : elements(run, value)) {
    const Value key = sort_key(run, item, bound.find(1), bound.boolean_or(0, false));
    if (key.list() || key.dict()) run.fail("unique: a ", type_name(key), " is not supported");
    const bool is_known = std::any_of(keys.begin(), keys.end(),
                                      [&](const Value& other) { return equal(run, key, other); });
    if (is_known) continue;
    keys.push_back(key);
    kept.push_back(item);
  }
  return list_value(run, std::move(kept), generator);
}

template <bool is_max>
Value extreme(Run& run, const Value& value, const Arguments& arguments) {
  const Bound bound(run, is_max ? "max" : "min", arguments, {"case_sensitive", "attribute"});
  const std::vector<Value> items = elements(run, value);
  if (items.empty()) return undefined("there is no element");
  const auto key = [&](const Value& item) {
    return sort_key(run, item, bound.find(1), bound.boolean_or(0, false));
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < items.size(); ++i) {
    const bool is_better = is_max ? less(run, key(items[best]), key(items[i]))
                                  : less(run, key(items[i]), key(items[best]));
    if (is_better) best = i;
  }
  return items[best];
}

Value sum(Run& run, const Value& value, const Arguments& arguments) {
  const Bound bound(run, "sum", arguments, {"attribute", "start"});
  Value total = bound.find(1) ? *bound.find(1) : Value{std::int64_t{0}};
  for (const Value& item : elements(run, value)) {
    total = calculate(run, Arithmetic::add, total, sort_key(run, item, bound.find(0), true));
  }
  return total;
}

Value absolute(Run& run, const Value& value, const Arguments& arguments) {
  const Bound bound(run, "abs", arguments, {});
  if (!value.is_number()) run.fail("abs: expected a number, found a ", type_name(value));
  return with_sign(run, value.number() < 0 || std::signbit(value.number()), value);
}

Value mapped_attributes(Run& run, const std::vector<Value>& items, const Arguments& arguments) {
  const Bound bound(run, "map", arguments, {"attribute", "default"});
  std::vector<Value> results;
  for (const Value& item : items) {
    Value result = sort_key(run, item, &bound.required(0), true);
    const bool is_default = result.is_undefined() && bound.find(1) && !bound.find(1)->is_none();
    results.push_back(is_default ? *bound.find(1) : std::move(result));
  }
  return list_value(run, std::move(results), generator);
}

Value map(Run& run, const Value& value, const Arguments& arguments) {
  const std::vector<Value> items = elements(run, value);
  if (arguments.positional.empty()) return mapped_attributes(run, items, arguments);
  const std::string& name = first_text(run, "map", arguments);
  const Filter filter = find_filter(name);
  if (!filter) run.fail("map: the filter ", name, " is not supported");
  const Arguments rest = arguments_after(arguments, 1);
  std::vector<Value> results;
  for (const Value& item : items) results.push_back(filter(run, item, rest));
  return list_value(run, std::move(results), generator);
}

// select, reject, selectattr and rejectattr.
template <bool keeps, bool by_attribute>
Value select(Run& run, const Value& value, const Arguments& arguments) {
  constexpr std::string_view what = by_attribute ? "selectattr" : "select";
  constexpr std::size_t test_place = by_attribute ? 1 : 0;
  const std::string* path = by_attribute ? &first_text(run, what, arguments) : nullptr;
  Test test = nullptr;
  Arguments rest;
  if (arguments.positional.size() > test_place) {
    const std::string& name = first_text(run, what, arguments, test_place);
    test = find_test(name);
    if (!test) run.fail(what, ": the test ", name, " is not supported");
    rest = arguments_after(arguments, test_place + 1);
  }
  std::vector<Value> kept;
  for (const Value& item : elements(run, value)) {
    const Value tested = path ? nested_element(run, item, *path) : item;
    if ((test ? test(run, tested, rest) : is_true(tested)) == keeps) kept.push_back(item);
  }
  return list_value(run, std::move(kept), generator);
}

// The parser allows it only where its result is printed.
Value safe(Run& run, const Value& value, const Arguments& arguments) {
  const Bound bound(run, "safe", arguments, {});
  return text_value(run, to_text(run, value));
}

constexpr std::pair<std::string_view, Filter> filters[] = {
    {"abs", absolute},
    {"count", length_of},
    {"d", default_value},
    {"default", default_value},
    {"dictsort", dict_sort},
    {"first", first},
    {"items", items_of},
    {"join", join},
    {"last", last},
    {"length", length_of},
    {"list", list},
    {"map", map},
    {"max", extreme<true>},
    {"min", extreme<false>},
    {"reject", select<false, false>},
    {"rejectattr", select<false, true>},
    {"reverse", reverse},
    {"safe", safe},
    {"select", select<true, false>},
    {"selectattr", select<true, true>},
    {"sort", sort},
    {"sum", sum},
    {"unique", unique},
};

}  // namespace

Filter find_list_filter(std::string_view name) {
  for (const auto& [known, filter] : filters) {
    if (known == name) return filter;
  }
  return nullptr;
}

Filter find_filter(std::string_view name) {
  const Filter filter = find_text_filter(name);
  return filter ? filter : find_list_filter(name);
}

}  // namespace heed::text::jinja
