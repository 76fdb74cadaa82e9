#include "heed/metrics/bleu_tokenizers.h"

#include <array>

#include "heed/base/error.h"
#include "heed/metrics/unicode.h"

namespace heed {

template <>
std::span<const Choice<metrics::BleuTokenizer>> choices() {
  using metrics::BleuTokenizer;
  static constexpr std::array all{
      Choice{"13a", BleuTokenizer::mteval_13a}, Choice{"none", BleuTokenizer::none},
      Choice{"intl", BleuTokenizer::international}, Choice{"char", BleuTokenizer::character}};
  return all;
}

}  // namespace heed

namespace heed::metrics {
namespace {

// The tokenizers are defined by rules that put spaces into a text, one rule after the other. A rule
// reads from left to right, and a character that it has used in one pair is in no other pair.

// Spaces on both sides of each character that `matches`.
template <typename String, typename Matches>
String isolate(const String& text, Matches matches) {
  String result;
  result.reserve(text.size() * 2);
  for (const auto c : text) {
    if (matches(c)) {
      result += {' ', c, ' '};
    } else {
      result += c;
    }
  }
  return result;
}

// Spaces on both sides of the second character of each pair.
template <typename String, typename First, typename Second>
String isolate_second(const String& text, First is_first, Second is_second) {
  String result;
  result.reserve(text.size() * 2);
  for (std::size_t i = 0; i < text.size(); ++i) {
    result += text[i];
    if (i + 1 < text.size() && is_first(text[i]) && is_second(text[i + 1])) {
      result += {' ', text[++i], ' '};
    }
  }
  return result;
}

// Spaces on both sides of the first character of each pair.
template <typename String, typename First, typename Second>
String isolate_first(const String& text, First is_first, Second is_second) {
  String result;
  result.reserve(text.size() * 2);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i + 1 < text.size() && is_first(text[i]) && is_second(text[i + 1])) {
      result += {' ', text[i], ' ', text[i + 1]};
      ++i;
    } else {
      result += text[i];
    }
  }
  return result;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_period_or_comma(char c) { return c == '.' || c == ','; }

// ASCII punctuation except ' , - . which need a look at their neighbours, or stay.
bool is_plain_punctuation(char c) {
  return (c >= '!' && c <= '&') || (c >= '(' && c <= '+') || c == '/' || (c >= ':' && c <= '@') ||
         (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

// Bytes will do here: a byte of a longer character is neither a digit nor punctuation.
std::string separate_13a(std::string_view line) {
  std::string text(line);
  replace_all(text, "<skipped>", "");
  replace_all(text, "-\n", "");
  replace_all(text, "\n", " ");
  replace_all(text, "&quot;", "\"");
  replace_all(text, "&amp;", "&");
  replace_all(text, "&lt;", "<");
  replace_all(text, "&gt;", ">");
  text = ' ' + text + ' ';

  const auto is_no_digit = [](char c) { return !is_digit(c); };
  const auto is_dash = [](char c) { return c == '-'; };
  text = isolate(text, is_plain_punctuation);
  text = isolate_second(text, is_no_digit, is_period_or_comma);
  text = isolate_first(text, is_period_or_comma, is_no_digit);
  return isolate_second(text, is_digit, is_dash);
}

std::string separate_international(std::string_view line) {
  const auto is_no_number = [](char32_t c) { return !is_number(c); };
  std::u32string text = decode_utf8(line);
  text = isolate_second(text, is_no_number, is_punctuation);
  text = isolate_first(text, is_punctuation, is_no_number);
  return encode_utf8(isolate(text, is_symbol));
}

std::string separate_characters(std::string_view line) {
  return encode_utf8(isolate(decode_utf8(line), [](char32_t) { return true; }));
}

std::string separate(std::string_view line, BleuTokenizer tokenizer) {
  switch (tokenizer) {
    case BleuTokenizer::mteval_13a:
      return separate_13a(line);
    case BleuTokenizer::international:
      return separate_international(line);
    case BleuTokenizer::character:
      return separate_characters(line);
    case BleuTokenizer::none:
      break;
  }
  return std::string(line);
}

}  // namespace

std::vector<std::string> tokenize_for_bleu(std::string_view line, BleuTokenizer tokenizer) {
  const std::string separated = separate(trim_end(line), tokenizer);
  const auto words = split_words(separated);
  return {words.begin(), words.end()};
}

}  // namespace heed::metrics
