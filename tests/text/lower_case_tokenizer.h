// A tokenizer that normalises: its table turns A into a, and has nothing else in it.
#pragma once

#include <string>
#include <vector>

#include "heed/text/tokenizer.h"

namespace heed::text {

// A field of a serialised message that holds bytes.
inline std::string message_field(int field, const std::string& bytes) {
  std::string text(1, static_cast<char>(field << 3 | 2));
  std::size_t length = bytes.size();
  for (; length >= 0x80; length >>= 7) text += static_cast<char>(length | 0x80);
  return text + static_cast<char>(length) + bytes;
}

// 256 units of a double-array trie: the root at 0, its child for 'A', and the leaf of that.
inline constexpr std::size_t child_place = 1 ^ 'A', leaf_place = child_place ^ 2;
inline std::vector<std::uint32_t> lower_case_trie() {
  constexpr std::uint32_t leaf = 0x80000000, has_leaf = 1 << 8;
  std::vector<std::uint32_t> units(256);
  units[0] = 1 << 10;
  units[child_place] = 2 << 10 | has_leaf | 'A';
  units[leaf_place] = leaf;  // the text at place 0
  return units;
}

inline std::string charsmap(const std::vector<std::uint32_t>& trie, const std::string& texts) {
  const auto size = static_cast<std::uint32_t>(trie.size() * sizeof trie[0]);
  std::string bytes(reinterpret_cast<const char*>(&size), sizeof size);
  bytes.append(reinterpret_cast<const char*>(trie.data()), size);
  return bytes + texts;
}

// The bytes of a tokenizer of characters with this table. A second part of a message is merged into
// the first.
inline std::string tokenizer_with_charsmap(const std::string& map, int spec = 3) {
  const std::vector<std::string> lines{"ab ba"};
  const auto tokenizer =
      Tokenizer::train(lines, {.vocabulary = 16, .subwords = Subwords::character});
  return tokenizer.bytes() + message_field(spec, message_field(2, map));
}

inline std::string lower_case_tokenizer() {
  return tokenizer_with_charsmap(charsmap(lower_case_trie(), std::string("a\0", 2)));
}

}  // namespace heed::text
