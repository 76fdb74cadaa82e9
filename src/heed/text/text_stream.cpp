#include "heed/text/text_stream.h"

#include <algorithm>
#include <utility>

#include "heed/base/utf8.h"

namespace heed::text {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

// Whether more bytes can make a character of these.
bool may_become_character(std::string_view bytes) {
  return bytes.size() < utf8_length(bytes.front()) && !is_continuation(bytes.front()) &&
         std::ranges::all_of(bytes.substr(1), is_continuation);
}

}  // namespace

TextStream::TextStream(Tokenizer tokenizer, bool is_continuation)
    : tokenizer_(std::move(tokenizer)),
      is_at_start_(tokenizer_.has_space_before() && !is_continuation) {}

TextStream TextStream::after(std::span<const int> before, const Tokenizer& tokenizer) {
  const auto is_text = [&](int id) { return !tokenizer.is_special(id); };
  return TextStream(tokenizer, std::ranges::any_of(before, is_text));
}

std::string TextStream::add(int id) {
  if (tokenizer_.is_special(id)) return finish();
  std::string surface = tokenizer_.surface(id);
  if (surface.empty()) return "";
  const bool is_text = !tokenizer_.byte(id);
  if (is_at_start_ && is_text && id != tokenizer_.tokens().unknown && surface.starts_with(' ')) {
    surface.erase(0, 1);
  }
  is_at_start_ = false;
  bytes_ += surface;
  return take_characters();
}

// Bytes that cannot be part of a character become U+FFFD, each by itself, as SentencePiece has it.
std::string TextStream::take_characters() {
  std::string text;
  while (!bytes_.empty() && !may_become_character(bytes_)) {
    const std::size_t length = std::min(utf8_length(bytes_.front()), bytes_.size());
    const bool is_whole = is_valid_utf8(std::string_view(bytes_).substr(0, length));
    text += is_whole ? std::string_view(bytes_).substr(0, length) : replacement;
    bytes_.erase(0, is_whole ? length : 1);
  }
  return text;
}

std::string TextStream::finish() {
  std::string text;
  while (!bytes_.empty()) {
    text += replacement;
    bytes_.erase(0, 1);
    text += take_characters();
  }
  return text;
}

}  // namespace heed::text
