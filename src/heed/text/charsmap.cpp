#include "heed/text/charsmap.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include "heed/text/message_reader.h"

namespace heed::text {
namespace {

constexpr std::size_t unit_bytes = 4;

// A double-array trie (Darts): each node is a unit that says where its children begin. The child
// for a byte is at that place XOR the byte, and has the byte as its label.
class Unit {
 public:
  explicit Unit(std::uint32_t bits) : bits_(bits) {}

  bool has_leaf() const { return (bits_ >> 8 & 1) != 0; }
  // Of a leaf, which has the highest bit set and so the label of no byte.
  std::uint32_t value() const { return bits_ & 0x7fffffff; }
  std::uint32_t label() const { return bits_ & 0x800000ff; }
  std::uint32_t offset() const { return bits_ >> 10 << ((bits_ & 1 << 9) >> 6); }

 private:
  std::uint32_t bits_;
};

class Trie {
 public:
  // The values of its leaves are places in a text of `text_size` bytes.
  Trie(std::string_view units, std::size_t text_size) : units_(units), text_size_(text_size) {}

  // Whether every way from the root stays among the units and ends within the text.
  bool is_safe() {
    if (size() == 0) return false;
    is_seen_.resize(size());
    visit(0);
    while (!waiting_.empty()) {
      const std::size_t node = waiting_.back();
      waiting_.pop_back();
      if (!follow(node)) return false;
    }
    return true;
  }

 private:
  std::size_t size() const { return units_.size() / unit_bytes; }

  Unit unit(std::size_t place) const {
    std::uint32_t bits = 0;
    std::memcpy(&bits, units_.data() + place * unit_bytes, unit_bytes);
    return Unit(bits);
  }

  void visit(std::size_t node) {
    if (is_seen_[node]) return;
    is_seen_[node] = true;
    waiting_.push_back(node);
  }

  bool follow(std::size_t node) {
    constexpr std::size_t last_byte = 0xff;
    const std::size_t children = node ^ unit(node).offset();
    if ((children | last_byte) >= size()) return false;
    if (unit(node).has_leaf() && unit(children).value() > text_size_) return false;
    for (std::size_t byte = 0; byte <= last_byte; ++byte) {
      if (unit(children ^ byte).label() == byte) visit(children ^ byte);
    }
    return true;
  }

  std::string_view units_;
  std::size_t text_size_;
  std::vector<bool> is_seen_;
  std::vector<std::size_t> waiting_;
};

// The size of the trie, the trie, and the texts, each of which ends with a zero byte.
bool is_safe_charsmap(std::string_view charsmap) {
  if (charsmap.empty()) return true;  // nothing is normalised
  std::uint32_t size = 0;
  if (charsmap.size() < sizeof size) return false;
  std::memcpy(&size, charsmap.data(), sizeof size);
  charsmap.remove_prefix(sizeof size);
  if (size > charsmap.size()) return false;
  return Trie(charsmap.substr(0, size), charsmap.size() - size).is_safe();
}

bool has_safe_charsmap(std::string_view spec) {
  constexpr std::uint64_t precompiled_charsmap = 2;
  MessageReader reader(spec);
  while (reader.find(precompiled_charsmap)) {
    if (!is_safe_charsmap(reader.content)) return false;
  }
  return !reader.is_damaged();
}

}  // namespace

bool has_safe_charsmaps(std::string_view model) {
  constexpr std::uint64_t normalizer_spec = 3, denormalizer_spec = 5;
  MessageReader reader(model);
  while (reader.next()) {
    const bool is_spec = reader.field == normalizer_spec || reader.field == denormalizer_spec;
    if (is_spec && !has_safe_charsmap(reader.content)) return false;
  }
  return !reader.is_damaged();
}

}  // namespace heed::text
