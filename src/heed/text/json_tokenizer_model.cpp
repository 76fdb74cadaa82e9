#include "heed/text/json_tokenizer_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "heed/base/utf8.h"
#include "heed/text/byte_alphabet.h"
#include "heed/text/byte_tokens.h"
#include "heed/text/code_points.h"

namespace heed::text {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// As in the library, a token with another character than those of the alphabet is taken as it is.
std::string bytes_of_alphabet(const std::string& token) {
  std::string bytes;
  for (const char32_t character : to_code_points(token)) {
    const std::optional<char> byte = byte_of_character(character);
    if (!byte) return token;
    bytes += *byte;
  }
  return bytes;
}

// Bytes that are no text are shown as SentencePiece names them.
std::string visible(const std::string& surface) {
  const bool is_text = is_valid_utf8(surface);
  std::string piece;
  for (const char c : surface) {
    if (c == ' ') {
      piece += "\xe2\x96\x81";  // U+2581
    } else if (is_text || static_cast<unsigned char>(c) < 0x80) {
      piece += c;
    } else {
      piece += fmt::format("<0x{:02X}>", static_cast<unsigned char>(c));
    }
  }
  return piece;
}

}  // namespace

JsonTokenizerModel::JsonTokenizerModel(JsonTokenizer tokenizer) : tokenizer_(std::move(tokenizer)) {
  find_word();
}

// The first word of letters that the tokenizer gives back.
void JsonTokenizerModel::find_word() {
  for (int id = 0; id < size(); ++id) {
    if (!tokenizer_.token(id) || tokenizer_.is_added(id)) continue;
    const std::string text = tokenizer_.decode({&id, 1});
    if (text.empty() || !std::ranges::all_of(text, is_letter)) continue;
    if (encode(text) != std::vector<int>{id}) continue;
    word_ = {id};
    word_text_ = text;
    has_space_before_ = tokenizer_.decode(std::vector<int>{id, id}) == text + ' ' + text;
    return;
  }
}

Subwords JsonTokenizerModel::subwords() const {
  if (tokenizer_.algorithm() == "Unigram") return Subwords::unigram;
  return tokenizer_.algorithm() == "WordLevel" ? Subwords::word : Subwords::bpe;
}

std::string_view JsonTokenizerModel::algorithm() const {
  return tokenizer_.algorithm() == "WordPiece" ? "wordpiece" : name_of(subwords());
}

std::vector<int> JsonTokenizerModel::encode(std::string_view text) const {
  return tokenizer_.encode(text, {.with_special = false, .fits_length = false}).ids;
}

std::string JsonTokenizerModel::decode(std::span<const int> ids) const {
  std::vector<int> known;
  for (const int id : ids) {
    if (id < size()) known.push_back(id);
  }
  return tokenizer_.decode(known);
}

std::string JsonTokenizerModel::surface(int id) const {
  const std::optional<std::string> token = tokenizer_.token(id);
  if (!token) return "";
  if (const std::optional<char> byte = this->byte(id)) return std::string(1, *byte);
  if (tokenizer_.token_bytes() == TokenBytes::alphabet) return bytes_of_alphabet(*token);
  std::vector<int> ids = word_;
  ids.push_back(id);
  const std::string text = tokenizer_.decode(ids);
  return text.starts_with(word_text_) ? text.substr(word_text_.size())
                                      : tokenizer_.decode({&id, 1});
}

std::string JsonTokenizerModel::piece(int id) const {
  const std::optional<char> byte = this->byte(id);
  return byte || tokenizer_.is_special(id) ? token(id) : visible(surface(id));
}

std::optional<char> JsonTokenizerModel::byte(int id) const {
  if (tokenizer_.token_bytes() != TokenBytes::fallback) return std::nullopt;
  return byte_of_token(token(id));
}

}  // namespace heed::text
