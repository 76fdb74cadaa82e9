// Text as Python's str, repr and float treat it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed::text::python {

enum class Side { left, right, both };

bool is_space(char32_t c);  // of str.isspace

// Without white space, or without any of the characters, at its sides.
std::string_view strip(std::string_view text, Side side = Side::both,
                       std::optional<std::string_view> characters = std::nullopt);

std::string upper(std::string_view text);
std::string lower(std::string_view text);
std::string title(std::string_view text);       // str.title
std::string capitalize(std::string_view text);  // str.capitalize

// At most `max_splits` times, from the left or from the right; -1: everywhere.
std::vector<std::string> split(std::string_view text, std::string_view separator,
                               std::ptrdiff_t max_splits, Side from);
std::vector<std::string> split_at_spaces(std::string_view text, std::ptrdiff_t max_splits,
                                         Side from);
std::vector<std::string> split_lines(std::string_view text, bool keep_ends);

// At most `count` times; -1: everywhere. Nothing is found between all characters.
std::string replace(std::string_view text, std::string_view old, std::string_view with,
                    std::ptrdiff_t count);

std::string repr(std::string_view text);
std::string repr(double number);

}  // namespace heed::text::python
