// Values of a template: what Jinja2 sees as Python's objects.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace heed::text::jinja {

class Run;
struct Value;
struct MacroStatement;
class Scope;

// A name or element that is not there. Prints as nothing; `what` says what is missing.
struct Undefined {
  std::shared_ptr<const std::string> what;
};

struct None {};

using Text = std::shared_ptr<const std::string>;

struct List;
struct Dict;
struct Namespace;
struct Loop;

// A macro and the scope that it was defined in, which outlives every copy of it.
struct Macro {
  const MacroStatement* statement;
  const Scope* scope;
};

enum class Function { range, namespace_, dict, raise_exception, strftime_now };

struct Method;  // "x".upper, before it is called

struct Value {
  using Data =
      std::variant<Undefined, None, bool, std::int64_t, double, Text, std::shared_ptr<const List>,
                   std::shared_ptr<const Dict>, std::shared_ptr<Namespace>, std::shared_ptr<Loop>,
                   Macro, Function, std::shared_ptr<const Method>>;
  Data data = None{};

  template <typename T>
  bool is() const {
    return std::holds_alternative<T>(data);
  }
  bool is_undefined() const { return is<Undefined>(); }
  bool is_none() const { return is<None>(); }
  bool is_text() const { return is<Text>(); }
  bool is_data() const { return data.index() < 8; }
  // Null when it is something else.
  const std::string* text() const;
  const List* list() const;
  const Dict* dict() const;

  // A bool counts as an integer, as in Python.
  const std::int64_t* integer(std::int64_t& of_bool) const;
  bool is_number() const { return is<bool>() || is<std::int64_t>() || is<double>(); }
  double number() const;  // of a number
};

// Lists hold data only: no namespaces, macros or methods. So nothing can hold itself.
struct List {
  enum class Kind {
    list,
    tuple,
    view,       // of a range or a dict: can be walked and counted, not indexed or printed
    generator,  // of a filter: can be walked once
  };
  std::vector<Value> items;
  Kind kind = Kind::list;
  int depth = 1;  // lists and dicts inside each other
  mutable bool is_used = false;
};

// In the order of insertion. Keys are strings.
struct Dict {
  const Value* find(std::string_view key) const;
  void set(std::string key, Value value);

  std::vector<std::pair<std::string, Value>> items;
  std::map<std::string, std::size_t, std::less<>> places;
  int depth = 1;
};

// Made by namespace(); the only value that changes.
struct Namespace {
  std::map<std::string, Value, std::less<>> fields;
};

// The `loop` of a for statement.
struct Loop {
  std::vector<Value> items;
  std::size_t index = 0;
  std::vector<Value> last_changed = {};  // arguments of the last loop.changed()
  bool has_changed = false;              // was it called?
};

struct Method {
  Value self;
  std::string name;
};

Value undefined(std::string what);
Value text_value(Run& run, std::string text);  // counts its bytes as work
// Refuse elements that are not data, and what is nested too deeply.
Value list_value(Run& run, std::vector<Value> items, List::Kind kind = List::Kind::list);
Value dict_value(Run& run, Dict dict);

bool is_true(const Value& value);
std::string_view type_name(const Value& value);  // Python's, for messages

bool equal(Run& run, const Value& a, const Value& b);
// a < b, which Python refuses for most values of different types.
bool less(Run& run, const Value& a, const Value& b);

// The elements of what a for loop can walk over; refuses all else.
std::vector<Value> elements(Run& run, const Value& value);
// How many there are.
std::int64_t length(Run& run, const Value& value);

std::string to_text(Run& run, const Value& value);  // Python's str()
std::string to_repr(Run& run, const Value& value);  // Python's repr()

}  // namespace heed::text::jinja
