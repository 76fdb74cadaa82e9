#include "heed/text/aligned_text.h"

#include <algorithm>
#include <utility>

#include "heed/base/utf8.h"
#include "heed/text/code_points.h"

namespace heed::text {

void AlignedText::reserve(std::size_t size) {
  bytes.reserve(size);
  sources.reserve(size);
}

void AlignedText::append(std::string_view text, SourceSpan source) {
  bytes += text;
  sources.insert(sources.end(), text.size(), source);
}

void AlignedText::append(const AlignedText& other, std::size_t begin, std::size_t end) {
  bytes.append(other.bytes, begin, end - begin);
  sources.insert(sources.end(), other.sources.data() + begin, other.sources.data() + end);
}

AlignedText AlignedText::part(std::size_t begin, std::size_t end) const {
  AlignedText part;
  part.append(*this, begin, end);
  part.source_begin = begin < end ? sources[begin].begin : source_begin;
  return part;
}

AlignedText align(std::string_view original) {
  AlignedText text;
  text.bytes = original;
  text.sources.resize(original.size());
  for (std::size_t at = 0; at < original.size();) {
    const std::size_t end = std::min(at + utf8_length(original[at]), original.size());
    const SourceSpan source{static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end)};
    while (at < end) text.sources[at++] = source;
  }
  return text;
}

void prepend(AlignedText& text, std::string_view prefix) {
  if (text.empty()) return;
  const SourceSpan source = text.sources.front();
  text.bytes.insert(0, prefix);
  text.sources.insert(text.sources.begin(), prefix.size(), source);
}

TextRewriter::TextRewriter(const AlignedText& from) : from_(from) {
  to_.source_begin = from.source_begin;
  to_.reserve(from.size());
}

SourceSpan TextRewriter::last_source() const {
  return at_ > 0 ? from_.sources[at_ - 1] : SourceSpan{from_.source_begin, from_.source_begin};
}

void TextRewriter::put(char32_t code_point, int change) {
  std::string character;
  append_utf8(character, code_point);
  put(character, change);
}

void TextRewriter::put(std::string_view character, int change) {
  if (change > 0 || at_ >= from_.size()) return to_.append(character, last_source());
  to_.append(character, from_.sources[at_]);
  skip(1 + static_cast<std::size_t>(-change));
}

void TextRewriter::keep_until(std::size_t end) {
  to_.append(from_, at_, end);
  at_ = end;
}

void TextRewriter::replace_until(std::size_t end, std::string_view text) {
  at_ = end;
  to_.append(text, last_source());
}

void TextRewriter::skip(std::size_t num_characters) {
  for (; num_characters > 0 && at_ < from_.size(); --num_characters) {
    at_ = std::min(at_ + utf8_length(from_.bytes[at_]), from_.size());
  }
}

}  // namespace heed::text
