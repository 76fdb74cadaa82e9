#include "heed/explore/token_list.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/text/words.h"

namespace heed::explore {
namespace {

constexpr std::string_view visible_space = "\xe2\x96\x81";  // U+2581

// The first is that before the word, the others are spaces; so is one that stands alone.
std::string without_visible_spaces(std::string_view piece) {
  if (piece == visible_space) return " ";
  std::string text;
  while (!piece.empty()) {
    const bool is_space = piece.starts_with(visible_space);
    if (!is_space) {
      text += piece.front();
    } else if (!text.empty()) {
      text += ' ';
    }
    piece.remove_prefix(is_space ? visible_space.size() : 1);
  }
  return text;
}

// Words, separated by white space.
std::vector<std::string_view> words_in(std::string_view text) {
  constexpr std::string_view spaces = " \t";
  std::vector<std::string_view> words;
  for (std::size_t begin = text.find_first_not_of(spaces); begin != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(spaces, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(spaces, end);
  }
  return words;
}

// The words of tokens [begin, end), none of which is a word by itself, after those that there are.
void add_words(TokenList& list, std::size_t begin, std::size_t end,
               const text::Tokenizer& tokenizer) {
  const std::span<const int> ids = std::span(list.ids).subspan(begin, end - begin);
  const text::Words words = text::words_of(ids, tokenizer);
  const Index first = std::ssize(list.word_texts);
  for (const Index word : words.word_of_piece) list.words.push_back(first + word);
  list.word_texts.insert(list.word_texts.end(), words.texts.begin(), words.texts.end());
}

// Is a token a word whatever is beside it? Foreign tokenizers write a mask without the space before
// it, or with one that it takes from the text.
bool is_word(int id, const text::Tokenizer& tokenizer) {
  return tokenizer.is_special(id) || (!tokenizer.is_own() && tokenizer.mask() == id);
}

}  // namespace

TokenList token_list(std::span<const int> ids, const text::Tokenizer& tokenizer) {
  TokenList list;
  list.ids.assign(ids.begin(), ids.end());
  for (const int id : ids) {
    list.pieces.push_back(tokenizer.piece(id));
    list.is_special.push_back(tokenizer.is_special(id));
    list.texts.push_back(list.is_special.back() ? list.pieces.back()
                                                : without_visible_spaces(list.pieces.back()));
  }
  for (std::size_t begin = 0, end = 0; begin < ids.size(); begin = end) {
    end = begin + 1;
    if (is_word(ids[begin], tokenizer)) {
      list.words.push_back(std::ssize(list.word_texts));
      list.word_texts.push_back(list.pieces[begin]);
      continue;
    }
    while (end < ids.size() && !is_word(ids[end], tokenizer)) ++end;
    add_words(list, begin, end, tokenizer);
  }
  return list;
}

nlohmann::ordered_json to_json(const TokenList& tokens) {
  return {
      {"pieces", tokens.pieces}, {"texts", tokens.texts},           {"ids", tokens.ids},
      {"words", tokens.words},   {"word_texts", tokens.word_texts}, {"special", tokens.is_special}};
}

void name_words(TokenList& tokens, const std::string& text) {
  const std::vector<std::string_view> words = words_in(text);
  std::vector<Index> own;  // the numbers of words that are not special
  for (std::size_t i = 0; i < tokens.words.size(); ++i) {
    const bool is_new = own.empty() || own.back() != tokens.words[i];
    if (is_new && !tokens.is_special[i]) own.push_back(tokens.words[i]);
  }
  if (own.size() != words.size()) return;
  for (std::size_t i = 0; i < own.size(); ++i) tokens.word_texts[own[i]] = words[i];
}

std::string with_word_replaced(const std::string& text, Index word,
                               const std::string& replacement) {
  const std::vector<std::string_view> words = words_in(text);
  check_as(ErrorKind::usage, !words.empty(), "replace: expected a text with words, found none");
  check_as(ErrorKind::usage, word >= 0 && word < std::ssize(words),
           "replace: expected a word from 0 to ", std::ssize(words) - 1, ", found ", word);
  const auto begin = static_cast<std::size_t>(words[word].data() - text.data());
  return text.substr(0, begin) + replacement + text.substr(begin + words[word].size());
}

}  // namespace heed::explore
