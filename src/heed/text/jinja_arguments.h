// The arguments of a call: positional ones, then named ones.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/text/jinja_value.h"

namespace heed::text::jinja {

struct Arguments {
  std::vector<Value> positional = {};
  std::vector<std::pair<std::string, Value>> named = {};
};

// The arguments by the names of the parameters.
class Bound {
 public:
  // Refuses arguments without a parameter and parameters that have two. `what` is called.
  Bound(Run& run, std::string_view what, const Arguments& arguments,
        std::initializer_list<std::string_view> parameters);

  // Null when it is not given.
  const Value* find(std::size_t parameter) const { return values_[parameter]; }
  const Value& required(std::size_t parameter) const;
  // What is not given or None is the fallback.
  std::int64_t integer_or(std::size_t parameter, std::int64_t fallback) const;
  bool boolean_or(std::size_t parameter, bool fallback) const;
  // Refuses what is not a string.
  const std::string& text(std::size_t parameter) const;

 private:
  Run& run_;
  std::string_view what_;
  std::vector<std::string_view> parameters_;
  std::vector<const Value*> values_;
};

}  // namespace heed::text::jinja
