#include "heed/text/jinja_lexer.h"

#include <algorithm>
#include <optional>

#include "heed/base/error.h"
#include "heed/text/code_points.h"
#include "heed/text/python_text.h"

namespace heed::text::jinja {
namespace {

using Kind = Token::Kind;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// Line ends are "\n", and the last one does not count.
std::string normalized(std::string_view source) {
  std::string text;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const bool is_return = source[i] == '\r';
    text += is_return ? '\n' : source[i];
    if (is_return && i + 1 < source.size() && source[i + 1] == '\n') ++i;
  }
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

class Lexer {
 public:
  Lexer(std::string_view source, const std::string& name)
      : source_(normalized(source)), name_(name) {}

  std::vector<Token> read() {
    while (at_ < source_.size()) read_text();
    add(Kind::end, "");
    return std::move(tokens_);
  }

 private:
  template <typename... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail(ErrorKind::model, name_, ":", line_, ": ", parts...);
  }

  bool is_here(std::string_view text) const {
    return std::string_view(source_).substr(at_).starts_with(text);
  }
  std::string_view rest() const { return std::string_view(source_).substr(at_); }

  void add(Kind kind, std::string value) { tokens_.push_back({kind, std::move(value), line_}); }

  void go_to(std::size_t place) {
    line_ +=
        static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                    source_.begin() + static_cast<std::ptrdiff_t>(place), '\n'));
    at_ = place;
  }

  void skip_spaces() { go_to(source_.size() - python::strip(rest(), python::Side::left).size()); }

  // Text up to the next tag, then that tag.
  void read_text() {
    const bool starts_line = at_ == 0 || source_[at_ - 1] == '\n';
    std::size_t tag = at_;
    while (true) {
      tag = source_.find('{', tag);
      if (tag == source_.npos) return add_text(rest(), source_.size());
      const char kind = tag + 1 < source_.size() ? source_[tag + 1] : ' ';
      if (kind == '{' || kind == '%' || kind == '#') break;
      ++tag;
    }
    const char sign = tag + 2 < source_.size() ? source_[tag + 2] : ' ';
    const bool has_sign = sign == '-' || sign == '+';
    const std::string_view text = std::string_view(source_).substr(at_, tag - at_);
    add_text(stripped(text, sign, source_[tag + 1] == '{', starts_line), tag);
    go_to(tag + (has_sign ? 3 : 2));
    read_tag(source_[tag + 1]);
  }

  // lstrip_blocks, and the sign of the tag that follows the text.
  static std::string_view stripped(std::string_view text, char sign, bool is_variable,
                                   bool starts_line) {
    if (sign == '-') return python::strip(text, python::Side::right);
    if (sign == '+' || is_variable) return text;
    const std::size_t end = text.rfind('\n');
    const std::size_t line = end == text.npos ? 0 : end + 1;
    const bool is_blank = python::strip(text.substr(line)).empty();
    return is_blank && (line > 0 || starts_line) ? text.substr(0, line) : text;
  }

  void add_text(std::string_view text, std::size_t end) {
    if (!text.empty()) add(Kind::text, std::string(text));
    go_to(end);
  }

  void read_tag(char kind) {
    if (kind == '#') return read_comment();
    if (kind == '%' && read_raw()) return;
    const bool is_block = kind == '%';
    add(is_block ? Kind::block_begin : Kind::variable_begin, "");
    const std::string_view end = is_block ? "%}" : "}}";
    brackets_.clear();
    while (true) {
      skip_spaces();
      if (at_ >= source_.size()) refuse("expected ", end, ", found the end of the template");
      if (brackets_.empty() && read_end(end, is_block)) break;
      read_token();
    }
  }

  // The end of a tag, and the white space that it removes.
  bool read_end(std::string_view end, bool is_block) {
    const bool is_minus = is_here("-") && rest().substr(1).starts_with(end);
    const bool is_plus = is_block && is_here("+") && rest().substr(1).starts_with(end);
    if (!is_minus && !is_plus && !is_here(end)) return false;
    add(is_block ? Kind::block_end : Kind::variable_end, "");
    finish_tag(end.size(), is_minus, is_plus, is_block);
    return true;
  }

  void finish_tag(std::size_t size, bool is_minus, bool is_plus, bool trims) {
    go_to(at_ + size + (is_minus || is_plus ? 1 : 0));
    if (is_minus) skip_spaces();
    if (!is_minus && !is_plus && trims && is_here("\n")) go_to(at_ + 1);
  }

  void read_comment() {
    const std::size_t end = source_.find("#}", at_);
    if (end == source_.npos) refuse("expected #}, found the end of the template");
    const char sign = end > at_ ? source_[end - 1] : ' ';
    const bool has_sign = sign == '-' || sign == '+';
    go_to(has_sign ? end - 1 : end);
    finish_tag(2, sign == '-', sign == '+', true);
  }

  // {% raw %} ... {% endraw %}: false when this block is another one.
  bool read_raw() {
    std::string_view begin = python::strip(rest(), python::Side::left);
    if (!begin.starts_with("raw")) return false;
    begin = python::strip(begin.substr(3), python::Side::left);
    const bool is_minus = begin.starts_with("-%}");
    if (!is_minus && !begin.starts_with("%}")) return false;
    go_to(source_.size() - begin.size());
    finish_tag(2, is_minus, false, false);
    const bool starts_line = source_[at_ - 1] == '\n';
    for (std::size_t tag = source_.find("{%", at_); tag != source_.npos;
         tag = source_.find("{%", tag + 2)) {
      if (read_raw_end(tag, starts_line)) return true;
    }
    refuse("expected {% endraw %}, found the end of the template");
  }

  bool read_raw_end(std::size_t tag, bool starts_line) {
    const char sign = tag + 2 < source_.size() ? source_[tag + 2] : ' ';
    const std::size_t begin = tag + (sign == '-' || sign == '+' ? 3 : 2);
    std::string_view end =
        python::strip(std::string_view(source_).substr(begin), python::Side::left);
    if (!end.starts_with("endraw")) return false;
    end = python::strip(end.substr(6), python::Side::left);
    const bool is_minus = end.starts_with("-%}"), is_plus = end.starts_with("+%}");
    if (!is_minus && !is_plus && !end.starts_with("%}")) return false;
    const std::string_view text = std::string_view(source_).substr(at_, tag - at_);
    add_text(stripped(text, sign, false, starts_line), source_.size() - end.size());
    finish_tag(2, is_minus, is_plus, true);
    return true;
  }

  void read_token() {
    const char c = source_[at_];
    if (is_letter(c)) return read_name();
    if (is_digit(c)) return read_number();
    if (c == '"' || c == '\'') return read_string(c);
    read_symbol();
  }

  void read_name() {
    std::size_t end = at_;
    while (end < source_.size() && (is_letter(source_[end]) || is_digit(source_[end]))) ++end;
    add(Kind::name, source_.substr(at_, end - at_));
    go_to(end);
  }

  std::size_t digits_end(std::size_t at) const {
    while (at < source_.size() && (is_digit(source_[at]) || source_[at] == '_')) ++at;
    return at;
  }

  // Decimal numbers: 12, 1_000, 1.5, 1e3. After a dot, 0.1 are two numbers: x.0.1.
  void read_number() {
    std::size_t end = digits_end(at_);
    bool is_float = false;
    const bool follows_dot = at_ > 0 && source_[at_ - 1] == '.';
    if (!follows_dot && end + 1 < source_.size() && source_[end] == '.' &&
        is_digit(source_[end + 1])) {
      end = digits_end(end + 1);
      is_float = true;
    }
    if (!follows_dot && end < source_.size() && (source_[end] == 'e' || source_[end] == 'E')) {
      std::size_t exponent = end + 1;
      if (exponent < source_.size() && (source_[exponent] == '+' || source_[exponent] == '-')) {
        ++exponent;
      }
      if (exponent < source_.size() && is_digit(source_[exponent])) {
        end = digits_end(exponent);
        is_float = true;
      }
    }
    std::string digits = source_.substr(at_, end - at_);
    if (end < source_.size() && is_letter(source_[end])) {
      refuse("expected a decimal number, found ", digits, source_[end]);
    }
    std::erase(digits, '_');
    if (!is_float && digits.size() > 1 && digits.find_first_not_of('0') != digits.npos &&
        digits[0] == '0') {
      refuse("expected a decimal number, found ", digits);
    }
    add(is_float ? Kind::floating : Kind::integer, digits);
    go_to(end);
  }

  void read_string(char quote) {
    std::size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size())
      refuse("expected the end of a string, found the end of the template");
    add(Kind::string, unescaped(std::string_view(source_).substr(at_ + 1, end - at_ - 1)));
    go_to(end + 1);
  }

  std::string unescaped(std::string_view text) const {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      if (text[at] == '\\') {
        ++at;
        append_escape(out, text, at);
      } else {
        out += text[at++];
      }
    }
    return out;
  }

  // Python's escapes; `at` is behind the backslash. A backslash before another character stays.
  void append_escape(std::string& out, std::string_view text, std::size_t& at) const {
    static constexpr std::string_view letters = "abfnrtv\\'\"", values = "\a\b\f\n\r\t\v\\'\"";
    const char c = text[at++];
    if (const std::size_t place = letters.find(c); place != letters.npos) {
      out += values[place];
    } else if (c == 'x' || c == 'u' || c == 'U') {
      append_code_point(out, text, at, c == 'x' ? 2 : c == 'u' ? 4 : 8, 16);
    } else if (c >= '0' && c <= '7') {
      std::size_t end = at;
      while (end < text.size() && end < at + 2 && text[end] >= '0' && text[end] <= '7') ++end;
      const std::size_t count = end - at + 1;
      append_code_point(out, text, --at, count, 8);
    } else if (c == 'N') {
      refuse("the escape \\N in a string is not supported");
    } else if (c != '\n') {
      (out += '\\') += c;
    }
  }

  void append_code_point(std::string& out, std::string_view text, std::size_t& at,
                         std::size_t count, std::uint32_t base) const {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < count; ++i, ++at) {
      static constexpr std::string_view digits = "0123456789abcdef";
      const char c = at < text.size() ? text[at] : ' ';
      const std::size_t digit = digits.find(c >= 'A' && c <= 'F' ? static_cast<char>(c + 32) : c);
      if (digit >= base || value > 0x10FFFF)
        refuse("expected ", count, " digits after \\ in a string");
      value = value * base + static_cast<std::uint32_t>(digit);
    }
    if (value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) {
      refuse("expected an escape of a character, found another number");
    }
    append_utf8(out, static_cast<char32_t>(value));
  }

  void read_symbol() {
    static constexpr std::string_view symbols[] = {
        "//", "**", "==", "!=", ">=", "<=", "+", "-", "*", "/", "%", "~", "[",
        "]",  "(",  ")",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ",", ";"};
    for (const std::string_view symbol : symbols) {
      if (!is_here(symbol)) continue;
      balance(symbol[0]);
      add(Kind::symbol, std::string(symbol));
      return go_to(at_ + symbol.size());
    }
    std::size_t end = at_;
    next_code_point(source_, end);
    refuse("expected a name, a value or an operator, found ", source_.substr(at_, end - at_));
  }

  // Inside brackets "}}" and "%}" are operators.
  void balance(char c) {
    static constexpr std::string_view opening = "([{", closing = ")]}";
    if (const std::size_t kind = opening.find(c); kind != opening.npos) {
      brackets_ += closing[kind];
    } else if (closing.find(c) != closing.npos) {
      if (brackets_.empty() || brackets_.back() != c) refuse("found ", c, " without its beginning");
      brackets_.pop_back();
    }
  }

  std::string source_;
  const std::string& name_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::string brackets_;  // that close those that are open
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> read_tokens(std::string_view source, const std::string& name) {
  return Lexer(source, name).read();
}

}  // namespace heed::text::jinja
