// Headers that every answer carries.
#pragma once

#include <span>
#include <string_view>

namespace heed::serve {

struct FixedHeader {
  std::string_view name, value;
};

// The page may load from here alone, no other page may frame or read it, and nothing is kept.
std::span<const FixedHeader> security_headers();

}  // namespace heed::serve
