#include "heed/text/jinja_operators.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "heed/text/code_points.h"
#include "heed/text/jinja_functions.h"
#include "heed/text/jinja_run.h"

namespace heed::text::jinja {
namespace {

constexpr std::string_view symbols[] = {"+", "-", "*", "/", "//", "%", "**"};

[[noreturn]] void refuse(Run& run, Arithmetic operation, const Value& a, const Value& b) {
  run.fail("expected values for the operator ", symbols[static_cast<int>(operation)], ", found a ",
           type_name(a), " and a ", type_name(b));
}

std::optional<std::int64_t> power(std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  while (exponent > 0) {
    if (exponent % 2 == 1 && __builtin_mul_overflow(result, base, &result)) return std::nullopt;
    exponent /= 2;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) return std::nullopt;
  }
  return result;
}

// Rounded down, as Python does; none when it does not fit.
std::optional<std::int64_t> floor_divide(std::int64_t a, std::int64_t b) {
  if (b == -1) {
    std::int64_t result = 0;
    return __builtin_sub_overflow(std::int64_t{0}, a, &result) ? std::nullopt
                                                               : std::optional(result);
  }
  return a / b - (a % b != 0 && (a % b < 0) != (b < 0) ? 1 : 0);
}

std::int64_t modulo(std::int64_t a, std::int64_t b) {
  if (b == -1) return 0;
  const std::int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

double modulo(double a, double b) {
  const double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

double floor_divide(double a, double b) {
  const double quotient = (a - modulo(a, b)) / b;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double floor = std::floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}

std::optional<std::int64_t> calculate_whole(Arithmetic operation, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (operation) {
    case Arithmetic::add:
      return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Arithmetic::subtract:
      return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Arithmetic::multiply:
      return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Arithmetic::floor_divide:
      return floor_divide(a, b);
    case Arithmetic::modulo:
      return modulo(a, b);
    default:
      return power(a, b);
  }
}

double calculate_floating(Arithmetic operation, double a, double b) {
  switch (operation) {
    case Arithmetic::add:
      return a + b;
    case Arithmetic::subtract:
      return a - b;
    case Arithmetic::multiply:
      return a * b;
    case Arithmetic::divide:
      return a / b;
    case Arithmetic::floor_divide:
      return floor_divide(a, b);
    case Arithmetic::modulo:
      return modulo(a, b);
    default:
      return std::pow(a, b);
  }
}

bool divides(Arithmetic operation) {
  return operation == Arithmetic::divide || operation == Arithmetic::floor_divide ||
         operation == Arithmetic::modulo;
}

Value calculate_numbers(Run& run, Arithmetic operation, const Value& a, const Value& b) {
  if (divides(operation) && b.number() == 0) run.fail("expected a divisor, found 0");
  std::int64_t bool_a = 0, bool_b = 0;
  const std::int64_t* whole_a = a.integer(bool_a);
  const std::int64_t* whole_b = b.integer(bool_b);
  const bool is_root = operation == Arithmetic::power && whole_b && *whole_b < 0;
  if (!whole_a || !whole_b || operation == Arithmetic::divide || is_root) {
    const double result = calculate_floating(operation, a.number(), b.number());
    if (operation == Arithmetic::power && !std::isfinite(result)) {
      run.fail("expected a finite power, found ", a.number(), " ** ", b.number());
    }
    return {result};
  }
  const std::optional<std::int64_t> result = calculate_whole(operation, *whole_a, *whole_b);
  if (!result) run.fail("expected integers of 64 bits, found larger ones");
  return {*result};
}

Value joined_lists(Run& run, const List& a, const List& b) {
  run.charge_list(a.items.size() + b.items.size());
  std::vector<Value> items = a.items;
  items.insert(items.end(), b.items.begin(), b.items.end());
  return list_value(run, std::move(items), a.kind);
}

Value repeated(Run& run, const Value& value, std::int64_t times) {
  const std::size_t count = times < 0 ? 0 : static_cast<std::size_t>(times);
  if (const std::string* text = value.text()) {
    if (!text->empty()) run.charge(count);
    std::string out;
    for (std::size_t i = 0; i < count && !text->empty(); ++i) run.append(out, *text);
    return text_value(run, std::move(out));
  }
  const List& list = *value.list();
  std::vector<Value> items;
  for (std::size_t i = 0; i < count && !list.items.empty(); ++i) {
    run.charge_list(list.items.size());
    items.insert(items.end(), list.items.begin(), list.items.end());
  }
  return list_value(run, std::move(items), list.kind);
}

bool is_sequence(const Value& value) {
  return value.is_text() || (value.list() && value.list()->kind <= List::Kind::tuple);
}

}  // namespace

Value calculate(Run& run, Arithmetic operation, const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return calculate_numbers(run, operation, a, b);
  if (operation == Arithmetic::add && a.is_text() && b.is_text()) {
    std::string sum;
    run.append(sum, *a.text());
    run.append(sum, *b.text());
    return text_value(run, std::move(sum));
  }
  if (operation == Arithmetic::add && is_sequence(a) && is_sequence(b) && a.list() && b.list() &&
      a.list()->kind == b.list()->kind) {
    return joined_lists(run, *a.list(), *b.list());
  }
  if (operation == Arithmetic::multiply) {
    std::int64_t of_bool = 0;
    if (const auto* times = b.integer(of_bool); times && is_sequence(a)) {
      return repeated(run, a, *times);
    }
    if (const auto* times = a.integer(of_bool); times && is_sequence(b)) {
      return repeated(run, b, *times);
    }
  }
  if (operation == Arithmetic::modulo && a.is_text()) {
    run.fail("the operator % of a string, which formats, is not supported");
  }
  refuse(run, operation, a, b);
}

Value with_sign(Run& run, bool is_minus, const Value& value) {
  if (!value.is_number()) run.fail("expected a number after a sign, found a ", type_name(value));
  const Value zero{std::int64_t{0}};
  if (const double* number = std::get_if<double>(&value.data)) {
    return {is_minus ? -*number : *number};
  }
  return calculate_numbers(run, is_minus ? Arithmetic::subtract : Arithmetic::add, zero, value);
}

bool contains(Run& run, const Value& all, const Value& one) {
  if (const std::string* text = all.text()) {
    if (!one.is_text()) run.fail("expected a string in a string, found a ", type_name(one));
    run.charge_text(4 * text->size());
    return text->find(*one.text()) != text->npos;
  }
  if (const Dict* dict = all.dict()) {
    if (one.list() || one.dict()) {
      run.fail("expected a string as the key of a dict, found a ", type_name(one));
    }
    return one.is_text() && dict->find(*one.text()) != nullptr;
  }
  for (const Value& item : elements(run, all)) {
    if (equal(run, item, one)) return true;
  }
  return false;
}

bool compare(Run& run, Comparison comparison, const Value& a, const Value& b) {
  switch (comparison) {
    case Comparison::equal:
      return equal(run, a, b);
    case Comparison::unequal:
      return !equal(run, a, b);
    case Comparison::less:
      return less(run, a, b);
    case Comparison::less_equal:
      return less(run, a, b) || equal(run, a, b);
    case Comparison::greater:
      return less(run, b, a);
    case Comparison::greater_equal:
      return less(run, b, a) || equal(run, a, b);
    case Comparison::in:
      return contains(run, b, a);
    default:
      return !contains(run, b, a);
  }
}

namespace {

Value loop_field(const Loop& loop, const std::string& name) {
  const auto count = std::ssize(loop.items);
  const auto index = static_cast<std::int64_t>(loop.index);
  if (name == "index") return {index + 1};
  if (name == "index0") return {index};
  if (name == "revindex") return {count - index};
  if (name == "revindex0") return {count - index - 1};
  if (name == "first") return {index == 0};
  if (name == "last") return {index + 1 == count};
  if (name == "length") return {count};
  if (name == "depth") return {std::int64_t{1}};  // recursive loops are refused
  if (name == "depth0") return {std::int64_t{0}};
  if (name == "previtem") {
    return index > 0 ? loop.items[loop.index - 1] : undefined("there is no previous item");
  }
  if (name == "nextitem") {
    return index + 1 < count ? loop.items[loop.index + 1] : undefined("there is no next item");
  }
  return undefined("a loop has no `" + name + "`");
}

// Python's numbers have these. No template needs them.
void refuse_number_attribute(Run& run, const std::string& name) {
  static constexpr std::string_view names[] = {
      "as_integer_ratio", "bit_count", "bit_length", "conjugate", "denominator",
      "from_bytes",       "fromhex",   "hex",        "imag",      "is_integer",
      "numerator",        "real",      "to_bytes"};
  if (std::find(std::begin(names), std::end(names), name) != std::end(names)) {
    run.fail("the attribute ", name, " of a number is not supported");
  }
}

// What Python finds by its attributes; nothing when there is none.
std::optional<Value> own_attribute(Run& run, const Value& object, const std::string& name) {
  if (const auto* space = std::get_if<std::shared_ptr<Namespace>>(&object.data)) {
    const auto field = (*space)->fields.find(name);
    if (field == (*space)->fields.end()) return std::nullopt;
    return field->second;
  }
  if (object.is_number()) refuse_number_attribute(run, name);
  if (has_method(run, object, name)) {
    return Value{std::make_shared<const Method>(Method{object, name})};
  }
  if (const auto* loop = std::get_if<std::shared_ptr<Loop>>(&object.data)) {
    return loop_field(**loop, name);
  }
  return std::nullopt;
}

void refuse_undefined(Run& run, const Value& object) {
  if (const Undefined* none = std::get_if<Undefined>(&object.data)) {
    run.fail("expected a value, found nothing: ", *none->what);
  }
}

Value missing(const Value& object, const std::string& name) {
  return undefined("a " + std::string(type_name(object)) + " has no `" + name + "`");
}

// From Python's place, which may count from the end; none when there is none.
std::optional<std::size_t> place_of(std::int64_t index, std::size_t size) {
  const auto count = static_cast<std::int64_t>(size);
  if (index < -count || index >= count) return std::nullopt;
  return static_cast<std::size_t>(index < 0 ? index + count : index);
}

Value item_at(Run& run, const Value& object, std::int64_t index) {
  const Value none = missing(object, std::to_string(index));
  if (const std::string* text = object.text()) {
    run.charge_text(text->size());
    const std::u32string characters = to_code_points(*text);
    const auto place = place_of(index, characters.size());
    return place ? text_value(run, to_utf8(characters[*place])) : none;
  }
  if (!object.list()) return none;
  if (!is_sequence(object)) run.fail("an element of a ", type_name(object), " is not supported");
  const auto place = place_of(index, object.list()->items.size());
  return place ? object.list()->items[*place] : none;
}

}  // namespace

Value attribute(Run& run, const Value& object, const std::string& name) {
  refuse_undefined(run, object);
  if (std::optional<Value> own = own_attribute(run, object, name)) return *own;
  const Value* item = object.dict() ? object.dict()->find(name) : nullptr;
  return item ? *item : missing(object, name);
}

Value element(Run& run, const Value& object, const Value& key) {
  refuse_undefined(run, object);
  if (const std::string* name = key.text()) {
    if (const Value* item = object.dict() ? object.dict()->find(*name) : nullptr) return *item;
    if (std::optional<Value> own = own_attribute(run, object, *name)) return *own;
    return missing(object, *name);
  }
  std::int64_t of_bool = 0;
  if (const std::int64_t* index = key.integer(of_bool)) return item_at(run, object, *index);
  return missing(object, std::string(type_name(key)));
}

namespace {

std::optional<std::int64_t> optional_place(Run& run, const Value& value) {
  if (value.is_none()) return std::nullopt;
  std::int64_t of_bool = 0;
  const std::int64_t* place = value.integer(of_bool);
  if (!place) run.fail("expected an integer as the end of a slice, found a ", type_name(value));
  return *place;
}

// One end of a slice, where there is something.
std::int64_t clamped(std::optional<std::int64_t> place, std::int64_t fallback, std::int64_t size,
                     bool is_backwards) {
  if (!place) return fallback;
  const std::int64_t lowest = is_backwards ? -1 : 0;
  const std::int64_t highest = is_backwards ? size - 1 : size;
  if (*place < -size) return lowest;
  return std::min(*place < 0 ? *place + size : *place, highest);
}

// The places that a slice takes.
std::vector<std::size_t> places(Run& run, std::size_t count, const Value& start, const Value& stop,
                                const Value& step) {
  const auto size = static_cast<std::int64_t>(count);
  const std::int64_t step_size = optional_place(run, step).value_or(1);
  if (step_size == 0) run.fail("expected a step of a slice, found 0");
  const bool is_backwards = step_size < 0;
  const std::int64_t begin =
      clamped(optional_place(run, start), is_backwards ? size - 1 : 0, size, is_backwards);
  const std::int64_t end =
      clamped(optional_place(run, stop), is_backwards ? -1 : size, size, is_backwards);
  std::vector<std::size_t> taken;
  const std::int64_t stride = std::clamp<std::int64_t>(step_size, -size - 1, size + 1);
  for (std::int64_t i = begin; is_backwards ? i > end : i < end; i += stride) {
    taken.push_back(static_cast<std::size_t>(i));
  }
  run.charge_list(taken.size());
  return taken;
}

}  // namespace

Value slice(Run& run, const Value& object, const Value& start, const Value& stop,
            const Value& step) {
  refuse_undefined(run, object);
  if (const std::string* text = object.text()) {
    run.charge_text(4 * text->size());
    const std::u32string characters = to_code_points(*text);
    std::string out;
    for (const std::size_t place : places(run, characters.size(), start, stop, step)) {
      append_utf8(out, characters[place]);
    }
    return text_value(run, std::move(out));
  }
  if (!is_sequence(object)) {
    if (object.list()) run.fail("a slice of a ", type_name(object), " is not supported");
    return missing(object, "slice");
  }
  const List& list = *object.list();
  std::vector<Value> items;
  for (const std::size_t place : places(run, list.items.size(), start, stop, step)) {
    items.push_back(list.items[place]);
  }
  return list_value(run, std::move(items), list.kind);
}

}  // namespace heed::text::jinja
