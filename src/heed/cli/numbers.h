// Numbers on the command line, each within a range.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <optional>
#include <string>
#include <type_traits>

namespace heed::cli {

template <typename T>
inline constexpr bool is_optional = false;
template <typename T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <typename T>
struct NumberType {
  using type = T;
};
template <typename T>
struct NumberType<std::optional<T>> {
  using type = T;
};
// The number in a variable that is one, or that may hold one.
template <typename T>
using NumberIn = typename NumberType<T>::type;

// Both ends belong to it. NaN is in no range.
template <typename T>
struct Range {
  T least;
  T most;

  bool contains(T value) const { return value >= least && value <= most; }
};

// As CLI11 reads it, but for numbers that wrap around or stop at the largest one.
template <typename T>
std::optional<T> parse_number(const std::string& text) {
  T value{};
  errno = 0;
  const bool is_number = CLI::detail::lexical_cast(text, value) && errno != ERANGE;
  const bool wraps = std::is_unsigned_v<T> && text.find('-') != text.npos;
  return is_number && !wraps ? std::optional(value) : std::nullopt;
}

// "expected a whole number from 1 to 1024, found 0", after the name of the option.
template <typename T>
CLI::Validator in_range(const Range<T>& range) {
  const auto mistake = [range](const std::string& text) -> std::string {
    const std::optional<T> value = parse_number<T>(text);
    if (value && range.contains(*value)) return "";
    return fmt::format("expected {} from {} to {}, found {}",
                       std::is_integral_v<T> ? "a whole number" : "a number", range.least,
                       range.most, text.empty() ? "nothing" : text);
  };
  return {mistake, /*validator_desc=*/""};
}

}  // namespace heed::cli
