#include "heed/train/run_length.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "heed/base/error.h"

namespace heed::train {
namespace {

[[noreturn]] void refuse(std::string_view text, std::string_view setting) {
  fail(ErrorKind::usage, setting,
       ": expected a length like 30e (epochs), 8000u (updates), 45s (seconds), 45m (minutes) or 2h "
       "(hours), found ",
       text);
}

// The number before the unit; nothing when it is no number above 0.
template <typename Number>
std::optional<Number> leading_number(std::string_view part) {
  Number value{};
  const char* end = part.data() + part.size() - 1;
  const auto [stop, error] = std::from_chars(part.data(), end, value);
  if (error != std::errc() || stop != end || !(value > 0)) return std::nullopt;
  return value;
}

// Nothing when it is no time above 0, or too large.
std::optional<double> leading_minutes(std::string_view part) {
  const std::optional<double> number = leading_number<double>(part);
  if (!number) return std::nullopt;
  const char unit = part.back();
  const double minutes = unit == 's' ? *number / 60 : unit == 'h' ? *number * 60 : *number;
  return minutes > 0 && std::isfinite(minutes) ? std::optional(minutes) : std::nullopt;
}

// False when the part is no length, or its unit has been there already.
bool add_part(RunLength& length, std::string_view part) {
  if (part.size() < 2) return false;
  switch (part.back()) {
    case 'e':
      return !length.epochs && (length.epochs = leading_number<Index>(part));
    case 'u':
      return !length.updates && (length.updates = leading_number<Index>(part));
    case 's':
    case 'm':
    case 'h':
      return !length.minutes && (length.minutes = leading_minutes(part));
  }
  return false;
}

}  // namespace

RunLength parse_run_length(std::string_view text, std::string_view setting) {
  RunLength length;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    if (!add_part(length, text.substr(begin, comma - begin))) refuse(text, setting);
    begin = comma + 1;
  }
  return length;
}

RunLength parse_interval(std::string_view text, std::string_view setting) {
  const RunLength length = parse_run_length(text, setting);
  check_as(ErrorKind::usage, !length.minutes && !(length.epochs && length.updates), setting,
           ": expected epochs or updates, like 1e or 500u, found ", text);
  return length;
}

std::string to_string(const RunLength& length) {
  std::string text;
  const auto add = [&](const auto& number, char unit) {
    if (number) text += fmt::format("{}{}{}", text.empty() ? "" : ",", *number, unit);
  };
  add(length.epochs, 'e');
  add(length.updates, 'u');
  add(length.minutes, 'm');
  return text;
}

bool is_reached(const RunLength& length, const Progress& progress) {
  return (length.epochs && progress.epochs >= *length.epochs) ||
         (length.updates && progress.updates >= *length.updates) ||
         (length.minutes && progress.seconds >= *length.minutes * 60);
}

}  // namespace heed::train
