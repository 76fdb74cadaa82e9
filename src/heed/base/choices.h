// Names of enum values: one table for each enum, for config.json, the command line and messages.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "heed/base/error.h"

namespace heed {

template <typename Value>
struct Choice {
  std::string_view name;
  Value value;
};
// Clang deduces this by itself from version 17 on.
template <typename Value>
Choice(const char*, Value) -> Choice<Value>;

// All values of an enum with their names. Specialised beside each enum that has names.
template <typename Value>
std::span<const Choice<Value>> choices();

template <typename Value>
std::string_view name_of(Value value) {
  for (const Choice<Value>& choice : choices<Value>()) {
    if (choice.value == value) return choice.name;
  }
  return "";  // not reached: every value has a name
}

// "before, after": for help and messages.
template <typename Value>
std::string choice_names() {
  std::string names;
  for (const Choice<Value>& choice : choices<Value>()) {
    names.append(names.empty() ? "" : ", ").append(choice.name);
  }
  return names;
}

// The value of a name. Others are refused: "`norm`: expected one of before, after, found up".
template <typename Value>
Value parse_choice(std::string_view name, std::string_view what,
                   ErrorKind kind = ErrorKind::usage) {
  for (const Choice<Value>& choice : choices<Value>()) {
    if (choice.name == name) return choice.value;
  }
  fail(kind, what, ": expected one of ", choice_names<Value>(), ", found ", name);
}

}  // namespace heed
