// Splits a template into text and the tokens of its tags.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed::text::jinja {

struct Token {
  enum class Kind {
    text,            // between tags
    variable_begin,  // {{
    variable_end,    // }}
    block_begin,     // {%
    block_end,       // %}
    name,
    string,  // its value, without escapes
    integer,
    floating,
    symbol,  // an operator or a bracket
    end,
  };
  Kind kind;
  std::string value;
  int line;

  bool is_symbol(std::string_view symbol) const { return kind == Kind::symbol && value == symbol; }
  bool is_name(std::string_view name) const { return kind == Kind::name && value == name; }
};

// The last token is `end`. Refuses what is not a template.
std::vector<Token> read_tokens(std::string_view source, const std::string& name);

}  // namespace heed::text::jinja
