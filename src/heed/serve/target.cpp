#include "heed/serve/target.h"

#include <algorithm>
#include <charconv>

namespace heed::serve {
namespace {

// %2F -> '/'.
std::optional<char> hex_character(std::string_view digits) {
  unsigned value = 0;
  if (digits.size() != 2) return std::nullopt;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + 2, value, 16);
  if (error != std::errc{} || end != digits.data() + 2) return std::nullopt;
  return static_cast<char>(value);
}

std::optional<std::string> percent_decode(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    const std::optional<char> character = hex_character(text.substr(i + 1, 2));
    if (!character) return std::nullopt;
    result += *character;
    i += 2;
  }
  return result;
}

std::optional<std::string> decode_query(std::string_view text) {
  std::string spaced(text);
  std::ranges::replace(spaced, '+', ' ');
  return percent_decode(spaced);
}

bool add_parameter(std::string_view parameter, std::map<std::string, std::string>& query) {
  const std::size_t equals = std::min(parameter.find('='), parameter.size());
  const auto name = decode_query(parameter.substr(0, equals));
  const auto value = decode_query(parameter.substr(std::min(equals + 1, parameter.size())));
  if (!name || !value) return false;
  query[*name] = *value;
  return true;
}

}  // namespace

std::optional<Target> parse_target(std::string_view target) {
  if (!target.starts_with('/')) return std::nullopt;
  const std::size_t mark = std::min(target.find('?'), target.size());
  const std::optional<std::string> path = percent_decode(target.substr(0, mark));
  if (!path) return std::nullopt;
  Target result{*path, {}};
  for (std::size_t begin = mark + 1; begin < target.size();) {
    const std::size_t end = std::min(target.find('&', begin), target.size());
    if (end > begin && !add_parameter(target.substr(begin, end - begin), result.query)) {
      return std::nullopt;
    }
    begin = end + 1;
  }
  return result;
}

}  // namespace heed::serve
