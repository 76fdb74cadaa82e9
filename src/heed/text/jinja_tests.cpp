#include "heed/text/jinja_tests.h"

#include <string>

#include "heed/text/code_points.h"
#include "heed/text/jinja_operators.h"
#include "heed/text/jinja_run.h"
#include "heed/text/python_text.h"

namespace heed::text::jinja {
namespace {

template <bool (*holds)(const Value&)>
bool plain(Run& run, const Value& value, const Arguments& arguments) {
  const Bound bound(run, "a test", arguments, {});
  return holds(value);
}

bool is_defined(const Value& value) { return !value.is_undefined(); }
bool is_undefined(const Value& value) { return value.is_undefined(); }
bool is_none(const Value& value) { return value.is_none(); }
bool is_string(const Value& value) { return value.is_text(); }
bool is_mapping(const Value& value) { return value.dict() != nullptr; }
bool is_number(const Value& value) { return value.is_number(); }
bool is_integer(const Value& value) { return value.is<std::int64_t>(); }
bool is_float(const Value& value) { return value.is<double>(); }
bool is_boolean(const Value& value) { return value.is<bool>(); }
bool is_true_itself(const Value& value) { return value.is<bool>() && std::get<bool>(value.data); }
bool is_false(const Value& value) { return value.is<bool>() && !std::get<bool>(value.data); }
bool is_callable(const Value& value) {
  return value.is<Macro>() || value.is<Function>() || value.is<std::shared_ptr<const Method>>() ||
         value.is_undefined();
}
// What can be walked over. Python's undefined values can.
bool is_iterable(const Value& value) {
  return value.is_undefined() || value.is_text() || value.list() || value.dict() ||
         value.is<std::shared_ptr<Loop>>();
}

bool is_sequence(Run& run, const Value& value, const Arguments& arguments) {
  const Bound bound(run, "sequence", arguments, {});
  if (value.list() && value.list()->kind == List::Kind::view) {
    run.fail("the test sequence of a ", type_name(value), " is not supported");
  }
  const bool is_list = value.list() && value.list()->kind != List::Kind::generator;
  return value.is_undefined() || value.is_text() || value.dict() || is_list;
}

bool is_divisible(Run& run, const Value& value, const Value& by) {
  const Value rest = calculate(run, Arithmetic::modulo, value, by);
  return rest.is_number() && rest.number() == 0;
}

bool is_even(Run& run, const Value& value, const Arguments& arguments) {
  const Bound bound(run, "even", arguments, {});
  return is_divisible(run, value, {std::int64_t{2}});
}

bool is_odd(Run& run, const Value& value, const Arguments& arguments) {
  const Bound bound(run, "odd", arguments, {});
  const Value rest = calculate(run, Arithmetic::modulo, value, {std::int64_t{2}});
  return rest.is_number() && rest.number() == 1;
}

bool is_divisible_by(Run& run, const Value& value, const Arguments& arguments) {
  const Bound bound(run, "divisibleby", arguments, {"num"});
  return is_divisible(run, value, bound.required(0));
}

template <Comparison comparison>
bool compared(Run& run, const Value& value, const Arguments& arguments) {
  const Bound bound(run, "a comparison", arguments, {"other"});
  return compare(run, comparison, value, bound.required(0));
}

// Only what has one object in Python.
bool is_same(Run& run, const Value& value, const Arguments& arguments) {
  const Bound bound(run, "sameas", arguments, {"other"});
  const Value& other = bound.required(0);
  const auto is_single = [](const Value& one) { return one.is_none() || one.is<bool>(); };
  if (!is_single(value) && !is_single(other)) {
    run.fail("the test sameas of other values than true, false and none is not supported");
  }
  return value.data.index() == other.data.index() && equal(run, value, other);
}

template <std::string (*change)(std::string_view)>
bool has_case(Run& run, const Value& value, const Arguments& arguments) {
  const Bound bound(run, "a test of case", arguments, {});
  const std::string text = to_text(run, value);
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) {
      run.fail("the tests lower and upper of other characters than ASCII are not supported");
    }
  }
  const bool has_letters = python::upper(text) != python::lower(text);
  return has_letters && change(text) == text;
}

constexpr std::pair<std::string_view, Test> tests[] = {
    {"!=", compared<Comparison::unequal>},
    {"<", compared<Comparison::less>},
    {"<=", compared<Comparison::less_equal>},
    {"==", compared<Comparison::equal>},
    {">", compared<Comparison::greater>},
    {">=", compared<Comparison::greater_equal>},
    {"boolean", plain<is_boolean>},
    {"callable", plain<is_callable>},
    {"defined", plain<is_defined>},
    {"divisibleby", is_divisible_by},
    {"eq", compared<Comparison::equal>},
    {"equalto", compared<Comparison::equal>},
    {"even", is_even},
    {"false", plain<is_false>},
    {"float", plain<is_float>},
    {"ge", compared<Comparison::greater_equal>},
    {"greaterthan", compared<Comparison::greater>},
    {"gt", compared<Comparison::greater>},
    {"in", compared<Comparison::in>},
    {"integer", plain<is_integer>},
    {"iterable", plain<is_iterable>},
    {"le", compared<Comparison::less_equal>},
    {"lessthan", compared<Comparison::less>},
    {"lower", has_case<python::lower>},
    {"lt", compared<Comparison::less>},
    {"mapping", plain<is_mapping>},
    {"ne", compared<Comparison::unequal>},
    {"none", plain<is_none>},
    {"number", plain<is_number>},
    {"odd", is_odd},
    {"sameas", is_same},
    {"sequence", is_sequence},
    {"string", plain<is_string>},
    {"true", plain<is_true_itself>},
    {"undefined", plain<is_undefined>},
    {"upper", has_case<python::upper>},
};

}  // namespace

Test find_test(std::string_view name) {
  for (const auto& [known, test] : tests) {
    if (known == name) return test;
  }
  return nullptr;
}

}  // namespace heed::text::jinja
