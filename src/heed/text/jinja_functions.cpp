#include "heed/text/jinja_functions.h"

#include <algorithm>
#include <array>

#include "heed/text/code_points.h"
#include "heed/text/jinja_run.h"
#include "heed/text/jinja_string_methods.h"

namespace heed::text::jinja {
namespace {

constexpr std::pair<std::string_view, Function> functions[] = {
    {"range", Function::range},
    {"namespace", Function::namespace_},
    {"dict", Function::dict},
    {"raise_exception", Function::raise_exception},
    {"strftime_now", Function::strftime_now},
};

Value range(Run& run, const Arguments& arguments) {
  constexpr std::int64_t max_range = 100'000;  // of Jinja's sandbox
  if (!arguments.named.empty()) run.fail("range: expected arguments without names");
  const Bound bound(run, "range", arguments, {"start", "stop", "step"});
  bound.required(0);
  const bool has_stop = bound.find(1) != nullptr;
  const std::int64_t start = has_stop ? bound.integer_or(0, 0) : 0;
  const std::int64_t stop = bound.integer_or(has_stop ? 1 : 0, 0);
  const std::int64_t step = bound.integer_or(2, 1);
  if (step == 0) run.fail("range: expected a step, found 0");
  std::vector<Value> items;
  for (std::int64_t i = start; step > 0 ? i < stop : i > stop;) {
    if (std::ssize(items) == max_range) run.fail("range: expected at most ", max_range, " numbers");
    items.push_back({i});
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  return list_value(run, std::move(items), List::Kind::view);
}

Dict dict_of(Run& run, std::string_view what, const Arguments& arguments) {
  Dict dict;
  if (arguments.positional.size() > 1 ||
      (arguments.positional.size() == 1 && !arguments.positional[0].dict())) {
    run.fail(what, ": expected named arguments or one dict");
  }
  if (!arguments.positional.empty()) dict = *arguments.positional[0].dict();
  for (const auto& [name, value] : arguments.named) dict.set(name, value);
  return dict;
}

Value make_namespace(Run& run, const Arguments& arguments) {
  auto space = std::make_shared<Namespace>();
  for (auto& [name, value] : dict_of(run, "namespace", arguments).items) {
    if (!value.is_data())
      run.fail("namespace: a ", type_name(value), " as a field is not supported");
    space->fields[name] = value;
  }
  return {std::move(space)};
}

Value raise_exception(Run& run, const Arguments& arguments) {
  const Bound bound(run, "raise_exception", arguments, {"message"});
  heed::fail(ErrorKind::data, run.name(), ":", run.line(),
             ": the template refuses the messages: ", to_text(run, bound.required(0)));
}

Value strftime_now(Run& run, const Arguments& arguments) {
  const Bound bound(run, "strftime_now", arguments, {"format"});
  const std::string& format = bound.text(0);
  std::array<char, 1024> buffer{};
  std::tm time{};
  const std::time_t now = run.now();
  ::localtime_r(&now, &time);
  // One more character tells an empty text from one that does not fit.
  const std::size_t size =
      std::strftime(buffer.data(), buffer.size(), (format + "|").c_str(), &time);
  if (size == 0) run.fail("strftime_now: expected a time of less than ", buffer.size(), " bytes");
  return text_value(run, repair_utf8({buffer.data(), size - 1}));
}

}  // namespace

std::optional<Function> find_function(std::string_view name) {
  for (const auto& [known, function] : functions) {
    if (known == name) return function;
  }
  return std::nullopt;
}

Value call_function(Run& run, Function function, const Arguments& arguments) {
  switch (function) {
    case Function::range:
      return range(run, arguments);
    case Function::namespace_:
      return make_namespace(run, arguments);
    case Function::dict:
      return dict_value(run, dict_of(run, "dict", arguments));
    case Function::raise_exception:
      return raise_exception(run, arguments);
    default:
      return strftime_now(run, arguments);
  }
}

namespace {

constexpr std::string_view dict_methods[] = {"get", "items", "keys", "values", "copy"};
constexpr std::string_view list_methods[] = {"index", "count", "copy"};
constexpr std::string_view loop_methods[] = {"cycle", "changed"};
// Of Python's types, but not here: most of them change a value.
constexpr std::string_view other_dict_methods[] = {"clear",   "fromkeys",   "pop",
                                                   "popitem", "setdefault", "update"};
constexpr std::string_view other_list_methods[] = {"append", "clear",  "extend",  "insert",
                                                   "pop",    "remove", "reverse", "sort"};

template <typename Names>
bool has(const Names& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

Value pairs(Run& run, const Dict& dict) {
  std::vector<Value> items;
  for (const auto& [key, value] : dict.items) {
    items.push_back(list_value(run, {text_value(run, key), value}, List::Kind::tuple));
  }
  return list_value(run, std::move(items), List::Kind::view);
}

Value call_dict_method(Run& run, const Value& self, std::string_view name,
                       const Arguments& arguments) {
  const Dict& dict = *self.dict();
  if (name == "get") {
    const Bound bound(run, name, arguments, {"key", "default"});
    const std::string* key = bound.required(0).text();
    if (const Value* item = key ? dict.find(*key) : nullptr) return *item;
    return bound.find(1) ? *bound.find(1) : Value{None{}};
  }
  const Bound no_arguments(run, name, arguments, {});
  if (name == "copy") return self;
  if (name == "items") return pairs(run, dict);
  std::vector<Value> items;
  for (const auto& [key, value] : dict.items) {
    items.push_back(name == "keys" ? text_value(run, key) : value);
  }
  return list_value(run, std::move(items), List::Kind::view);
}

Value call_list_method(Run& run, const Value& self, std::string_view name,
                       const Arguments& arguments) {
  if (name == "copy") return self;
  const Bound bound(run, name, arguments, {"value"});
  const std::vector<Value>& items = self.list()->items;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!equal(run, items[i], bound.required(0))) continue;
    if (name == "index") return {static_cast<std::int64_t>(i)};
    ++count;
  }
  if (name == "index") run.fail("index: expected an element of the list, found another value");
  return {count};
}

Value call_loop_method(Run& run, Loop& loop, std::string_view name, const Arguments& arguments) {
  if (!arguments.named.empty()) run.fail(name, ": expected arguments without names");
  const std::vector<Value>& values = arguments.positional;
  if (name == "cycle") {
    if (values.empty()) run.fail("cycle: expected values, found none");
    return values[loop.index % values.size()];
  }
  bool is_same = loop.has_changed && loop.last_changed.size() == values.size();
  for (std::size_t i = 0; is_same && i < values.size(); ++i) {
    is_same = equal(run, loop.last_changed[i], values[i]);
  }
  for (const Value& value : values) {
    if (!value.is_data()) run.fail("changed: a ", type_name(value), " is not supported");
  }
  loop.last_changed = values;
  loop.has_changed = true;
  return {!is_same};
}

}  // namespace

bool is_method(std::string_view name) {
  return is_string_method(name) || has(dict_methods, name) || has(list_methods, name) ||
         has(loop_methods, name);
}

bool has_method(Run& run, const Value& value, std::string_view name) {
  const bool is_list = value.list() != nullptr, is_dict = value.dict() != nullptr;
  const bool is_other = (value.is_text() && is_other_string_method(name)) ||
                        (is_list && has(other_list_methods, name)) ||
                        (is_dict && has(other_dict_methods, name));
  if (is_other) run.fail("the method ", name, " of a ", type_name(value), " is not supported");
  return (value.is_text() && is_string_method(name)) || (is_list && has(list_methods, name)) ||
         (is_dict && has(dict_methods, name)) ||
         (value.is<std::shared_ptr<Loop>>() && has(loop_methods, name));
}

Value call_method(Run& run, const Method& method, const Arguments& arguments) {
  const Value& self = method.self;
  if (self.is_text()) return call_string_method(run, *self.text(), method.name, arguments);
  if (self.dict()) return call_dict_method(run, self, method.name, arguments);
  if (self.list()) return call_list_method(run, self, method.name, arguments);
  return call_loop_method(run, *std::get<std::shared_ptr<Loop>>(self.data), method.name, arguments);
}

}  // namespace heed::text::jinja
