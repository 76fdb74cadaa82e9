// Text that remembers where each byte comes from, through every normalisation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed::text {

// Bytes of the original text.
struct SourceSpan {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  friend bool operator==(const SourceSpan&, const SourceSpan&) = default;
};

struct AlignedText {
  std::string bytes;                // UTF-8
  std::vector<SourceSpan> sources;  // of each byte: the characters that it was made of
  std::uint32_t source_begin = 0;   // where the part of the original begins that this was made of

  std::size_t size() const { return bytes.size(); }
  bool empty() const { return bytes.empty(); }
  void reserve(std::size_t size);

  void append(std::string_view text, SourceSpan source);
  void append(const AlignedText& other, std::size_t begin, std::size_t end);
  AlignedText part(std::size_t begin, std::size_t end) const;
};

// Every character comes from itself.
AlignedText align(std::string_view original);

// Puts a prefix before a text that is not empty; it comes from the first character.
void prepend(AlignedText& text, std::string_view prefix);

// Writes a text again, character by character, and says of each what it takes the place of. The
// rules are those of the library that tokenizer.json comes from, so that offsets are the same.
class TextRewriter {
 public:
  explicit TextRewriter(const AlignedText& from);

  // With a change of 0 the character takes the place of the next one, with -n of that one and the n
  // after it. With a change above 0 it is inserted after the last one that was replaced.
  void put(char32_t code_point, int change);
  void put(std::string_view character, int change);
  // The next characters stay as they are, up to this byte.
  void keep_until(std::size_t end);
  // The next bytes are removed, and `text` comes in their place; it is aligned to the last of them.
  void replace_until(std::size_t end, std::string_view text);
  // Removes characters at the beginning.
  void skip(std::size_t num_characters);

  std::size_t at() const { return at_; }  // in the text that is read
  AlignedText take() { return std::move(to_); }

 private:
  SourceSpan last_source() const;

  const AlignedText& from_;
  AlignedText to_;
  std::size_t at_ = 0;
};

}  // namespace heed::text
