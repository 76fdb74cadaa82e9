// A set of pieces, to find those that a text begins with.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "heed/text/pair_table.h"

namespace heed::text {

class PieceTrie {
 public:
  struct Match {
    std::size_t size;  // in bytes
    int value;
  };

  PieceTrie() { first_bytes_.fill(none); }

  // A piece that is there already, and an empty one, is left as it is.
  void add(std::string_view piece, int value);

  // Calls found(Match) for every piece that the text begins with, the shortest first.
  template <typename Found>
  void find_all(std::string_view text, Found&& found) const {
    if (text.empty()) return;
    int node = first_bytes_[static_cast<unsigned char>(text[0])];
    for (std::size_t size = 1; node != none; ++size) {
      const int value = values_[static_cast<std::size_t>(node)];
      if (value != none) found(Match{size, value});
      if (size == text.size()) return;
      const int* next = children_.find(node, static_cast<unsigned char>(text[size]));
      node = next == nullptr ? none : *next;
    }
  }

  // The longest of them.
  std::optional<Match> find_longest(std::string_view text) const {
    std::optional<Match> longest;
    find_all(text, [&](Match match) { longest = match; });
    return longest;
  }

 private:
  static constexpr int none = -1;

  std::array<int, 256> first_bytes_{};  // nodes of the pieces' first bytes
  PairTable<int> children_;             // of a node, by the next byte
  std::vector<int> values_;             // of nodes
};

}  // namespace heed::text
