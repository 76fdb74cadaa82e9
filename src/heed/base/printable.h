// Foreign text in messages: on one line, without what a terminal would obey, and not endless.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heed {

// Control characters, the line and direction marks of Unicode, and bytes that are not UTF-8 become
// escapes: \n, \t, \x1b, \u202e.
std::string printable(std::string_view text);

// Escapes control characters and the ends of lines and paragraphs alone, but for those in `kept`.
std::string escape_controls(std::string_view text, std::string_view kept = "");

// At most `max_bytes` of a text in UTF-8, with "..." in place of its middle. Cuts no character.
std::string shorten_middle(std::string text, std::size_t max_bytes);

// A name or a value from a file, as part of a message.
std::string excerpt(std::string_view text, std::size_t max_bytes = 60);

// Does the text hold a control character, an end of a line, or bytes that are not UTF-8?
bool has_control_characters(std::string_view text);

}  // namespace heed
