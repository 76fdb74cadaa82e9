// Components of a tokenizer.json: objects whose field `type` says what they are.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "heed/base/error.h"
#include "heed/base/printable.h"
#include "heed/io/json_fields.h"

namespace heed::text {

// What a type is called, and how its settings are read.
template <typename Component>
struct ComponentKind {
  std::string_view name;
  Component (*read)(const io::JsonFields& fields);
};

// Refuses (ErrorKind::model) other types than these by name.
template <typename Component>
Component read_component(const io::JsonFields& fields,
                         std::span<const ComponentKind<Component>> kinds) {
  const std::string type = fields.text("type");
  std::string names;
  for (const auto& kind : kinds) {
    if (kind.name == type) return kind.read(fields);
    names.append(names.empty() ? "" : ", ").append(kind.name);
  }
  fail(ErrorKind::model, fields.place("type"), ": expected one of ", names, ", found ",
       excerpt(type));
}

// A file from a stranger may let a text grow without end. Refuses (ErrorKind::model) a text that
// became many times as long as it was.
void check_growth(std::string_view component, std::size_t size_before, std::size_t size_after);

}  // namespace heed::text
