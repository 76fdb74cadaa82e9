// One conformance case of an ONNX operator: tensors, attributes, and what is expected.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/half.h"
#include "heed/core/tensor.h"

namespace heed::onnx {

using Json = nlohmann::json;
using Sizes = std::vector<Index>;

inline Index product(const Sizes& sizes, std::size_t first, std::size_t last) {
  Index product = 1;
  for (std::size_t axis = first; axis < last; ++axis) product *= sizes[axis];
  return product;
}
inline Index product(const Sizes& sizes) { return product(sizes, 0, sizes.size()); }

// A tensor of any type and rank. Halves and integers of the cases are exact in a double.
struct Array {
  Sizes shape;
  std::vector<double> data;
  std::string dtype = "float32";

  std::vector<float> floats() const { return {data.begin(), data.end()}; }
  // The numbers as a matrix of ours.
  Tensor matrix(Index rows, Index cols) const { return Tensor::from(floats(), {rows, cols}); }
};

inline Array array_of(const Tensor& values, Sizes shape) {
  return {std::move(shape), {values.values().begin(), values.values().end()}};
}

// The attributes of a node. Every one must be asked for: what nobody reads would silently not
// count.
class Attributes {
 public:
  explicit Attributes(Json json) : json_(std::move(json)) {}

  bool has(const std::string& name) const { return json_.contains(name); }
  template <typename T>
  T get(const std::string& name, const T& otherwise) {
    read_.insert(name);
    return json_.contains(name) ? json_.at(name).get<T>() : otherwise;
  }
  void check_all_were_read(const std::string& op) const {
    for (const auto& [name, value] : json_.items()) {
      check(read_.contains(name), op, ": unknown attribute ", name, " = ", value.dump());
    }
  }

 private:
  Json json_;
  std::set<std::string> read_;
};

struct Case {
  std::string name, op;
  std::vector<std::string> input_names, output_names;  // empty: left out
  std::map<std::string, Array> inputs, outputs;
  Attributes attributes{Json::object()};

  // Null when the node leaves it out.
  const Array* optional_input(std::size_t position) const {
    if (position >= input_names.size() || input_names[position].empty()) return nullptr;
    return &inputs.at(input_names[position]);
  }
  const Array& input(std::size_t position) const {
    const Array* found = optional_input(position);
    check(found != nullptr, op, ": expected input ", position, ", found none");
    return *found;
  }
  void check_inputs_at_most(std::size_t count) const {
    check(input_names.size() <= count, op, ": expected at most ", count, " inputs, found ",
          input_names.size());
  }
};

// Results in the order of the operator's outputs; those that nobody asked for may be missing.
using Results = std::vector<Array>;

// ---- Reading

inline double number_of(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (!value.is_string()) return value.get<double>();
  const std::string text = value.get<std::string>();
  if (text == "inf" || text == "+inf" || text == "Infinity") return INFINITY;
  if (text == "-inf" || text == "-Infinity") return -INFINITY;
  if (text == "nan" || text == "NaN") return NAN;
  fail(ErrorKind::data, "expected a number, found \"", text, "\"");
}

inline Array array_of(const Json& json) {
  static const std::set<std::string> known = {"float32", "float16", "bfloat16", "float64", "double",
                                              "int32",   "int64",   "bool",     "uint8",   "int8"};
  Array array{json.at("shape").get<Sizes>(), {}, json.at("dtype").get<std::string>()};
  check(known.contains(array.dtype), "unknown type ", array.dtype);
  for (const Json& value : json.at("data")) array.data.push_back(number_of(value));
  check(static_cast<Index>(array.data.size()) == product(array.shape), "expected ",
        product(array.shape), " numbers, found ", array.data.size());
  return array;
}

inline std::map<std::string, Array> arrays_of(const Json& json) {
  std::map<std::string, Array> arrays;
  for (const auto& [name, value] : json.items()) arrays[name] = array_of(value);
  return arrays;
}

inline Case case_of(const std::string& line) {
  const Json json = Json::parse(line);
  return {json.at("case"),
          json.at("op"),
          json.at("input_names"),
          json.at("output_names"),
          arrays_of(json.at("inputs")),
          arrays_of(json.at("outputs")),
          Attributes(json.at("attributes"))};
}

// ---- Axes and comparison

inline std::size_t axis_of(Index axis, std::size_t rank) {
  const Index from_front = axis < 0 ? axis + static_cast<Index>(rank) : axis;
  check(from_front >= 0 && from_front < static_cast<Index>(rank), "no axis ", axis, " in rank ",
        rank);
  return static_cast<std::size_t>(from_front);
}

// The same numbers with their axes in another order: axis i of the result is axis order[i] of x.
inline Array transposed(const Array& x, const std::vector<std::size_t>& order) {
  Array y{{}, std::vector<double>(x.data.size()), x.dtype};
  Sizes x_strides(x.shape.size(), 1);
  for (std::size_t axis = x.shape.size(); axis-- > 1;) {
    x_strides[axis - 1] = x_strides[axis] * x.shape[axis];
  }
  for (const std::size_t axis : order) y.shape.push_back(x.shape[axis]);
  for (std::size_t at = 0; at < y.data.size(); ++at) {
    Index rest = static_cast<Index>(at), from = 0;
    for (std::size_t axis = order.size(); axis-- > 0;) {
      from += rest % y.shape[axis] * x_strides[order[axis]];
      rest /= y.shape[axis];
    }
    y.data[at] = x.data[from];
  }
  return y;
}

// A number as a tensor of this type holds it.
inline double round_to(const std::string& dtype, double value) {
  const auto single = static_cast<float>(value);
  if (dtype == "float16") return float16_to_float(float_to_float16(single));
  if (dtype == "bfloat16") return bfloat16_to_float(float_to_bfloat16(single));
  return value;
}

// ONNX itself compares to 1e-3 relative and 1e-7 absolute. We ask for 1e-5 of both: single
// precision in another order of summing. An expected half must be what a number so close to ours
// rounds to.
inline void expect_equal(const Array& found, const Array& expected, const std::string& name) {
  constexpr double tolerance = 1e-5;
  ASSERT_EQ(found.shape, expected.shape) << name;
  for (std::size_t i = 0; i < expected.data.size(); ++i) {
    const double a = found.data[i], b = expected.data[i];
    const double margin = tolerance * (1 + std::abs(b));
    const bool is_same =
        a == b || (std::isnan(a) && std::isnan(b)) ||
        (round_to(expected.dtype, a - margin) <= b && b <= round_to(expected.dtype, a + margin));
    ASSERT_TRUE(is_same) << name << ": element " << i << " is " << a << ", expected " << b;
  }
}

}  // namespace heed::onnx
