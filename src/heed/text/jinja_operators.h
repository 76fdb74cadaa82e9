// Operators of expressions, with Python's rules for types.
#pragma once

#include <string>

#include "heed/text/jinja_value.h"

namespace heed::text::jinja {

enum class Arithmetic { add, subtract, multiply, divide, floor_divide, modulo, power };
enum class Comparison { equal, unequal, less, less_equal, greater, greater_equal, in, not_in };

Value calculate(Run& run, Arithmetic operation, const Value& a, const Value& b);
Value with_sign(Run& run, bool is_minus, const Value& value);
bool compare(Run& run, Comparison comparison, const Value& a, const Value& b);
bool contains(Run& run, const Value& all, const Value& one);

// object.name: a method or field, then a dict's element. Undefined where there is none.
Value attribute(Run& run, const Value& object, const std::string& name);
// object[key]: an element, then a method or field.
Value element(Run& run, const Value& object, const Value& key);
// object[start:stop:step]; None: not given.
Value slice(Run& run, const Value& object, const Value& start, const Value& stop,
            const Value& step);

}  // namespace heed::text::jinja
