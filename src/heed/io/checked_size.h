// Arithmetic on sizes from files that refuses overflow, before anything is allocated.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "heed/base/error.h"

namespace heed::io {

// A size with the words that name it in an error: CheckedSize(rows, "model.safetensors: bias").
// Every operation throws Error(kind) instead of wrapping. The words must outlive the value.
class CheckedSize {
 public:
  CheckedSize(std::uint64_t value, std::string_view context, ErrorKind kind = ErrorKind::model)
      : value_(value), context_(context), kind_(kind) {}

  std::uint64_t value() const { return value_; }

  CheckedSize operator+(std::uint64_t other) const {
    std::uint64_t sum = 0;
    check_as(kind_, !__builtin_add_overflow(value_, other, &sum), context_,
             ": expected a size that fits 64 bits, found ", value_, " + ", other);
    return {sum, context_, kind_};
  }

  CheckedSize operator*(std::uint64_t other) const {
    std::uint64_t product = 0;
    check_as(kind_, !__builtin_mul_overflow(value_, other, &product), context_,
             ": expected a size that fits 64 bits, found ", value_, " x ", other);
    return {product, context_, kind_};
  }

  // The value as a type that may be narrower, or signed.
  template <std::integral T>
  T as() const {
    check_as(kind_, std::in_range<T>(value_), context_, ": expected a size of at most ",
             std::numeric_limits<T>::max(), ", found ", value_);
    return static_cast<T>(value_);
  }

 private:
  std::uint64_t value_;
  std::string_view context_;
  ErrorKind kind_;
};

}  // namespace heed::io
