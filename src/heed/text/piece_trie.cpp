#include "heed/text/piece_trie.h"

namespace heed::text {

void PieceTrie::add(std::string_view piece, int value) {
  if (piece.empty()) return;
  const auto new_node = [&] {
    values_.push_back(none);
    return static_cast<int>(values_.size() - 1);
  };
  int& first = first_bytes_[static_cast<unsigned char>(piece[0])];
  if (first == none) first = new_node();
  int node = first;
  for (const char letter : piece.substr(1)) {
    const auto byte = static_cast<unsigned char>(letter);
    const int* child = children_.find(node, byte);
    const int next = child == nullptr ? new_node() : *child;
    if (child == nullptr) children_.add(node, byte, next);
    node = next;
  }
  int& place = values_[static_cast<std::size_t>(node)];
  if (place == none) place = value;
}

}  // namespace heed::text
