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

// Follows every way through a trie whose leaves are places in a text.
class TrieCheck {
 public:
  TrieCheck(const std::vector<std::uint32_t>& units, std::size_t text_size)
      : units_(units), text_size_(text_size), is_seen_(units.size()) {}

  // Whether every way from the root stays among the units and ends within the text.
  bool is_safe() {
    if (units_.empty()) return false;
    visit(0);
    while (!waiting_.empty()) {
      const std::size_t node = waiting_.back();
      waiting_.pop_back();
      if (!follow(node)) return false;
    }
    return true;
  }

 private:
  Unit unit(std::size_t place) const { return Unit(units_[place]); }

  void visit(std::size_t node) {
    if (is_seen_[node]) return;
    is_seen_[node] = true;
    waiting_.push_back(node);
  }

  bool follow(std::size_t node) {
    constexpr std::size_t last_byte = 0xff;
    const std::size_t children = node ^ unit(node).offset();
    if ((children | last_byte) >= units_.size()) return false;
    if (unit(node).has_leaf() && unit(children).value() > text_size_) return false;
    for (std::size_t byte = 0; byte <= last_byte; ++byte) {
      if (unit(children ^ byte).label() == byte) visit(children ^ byte);
    }
    return true;
  }

  const std::vector<std::uint32_t>& units_;
  std::size_t text_size_;
  std::vector<bool> is_seen_;
  std::vector<std::size_t> waiting_;
};

bool has_safe_charsmap(std::string_view spec) {
  constexpr std::uint64_t precompiled_charsmap = 2;
  MessageReader reader(spec);
  while (reader.find(precompiled_charsmap)) {
    if (!reader.content.empty() && !Charsmap::read(reader.content)) return false;
  }
  return !reader.is_damaged();
}

}  // namespace

Charsmap::Charsmap(std::string_view units, std::string_view texts)
    : units_(units.size() / unit_bytes), texts_(texts) {
  if (!units_.empty()) std::memcpy(units_.data(), units.data(), units_.size() * unit_bytes);
}

std::optional<Charsmap> Charsmap::read(std::string_view bytes) {
  std::uint32_t size = 0;
  if (bytes.size() < sizeof size) return std::nullopt;
  std::memcpy(&size, bytes.data(), sizeof size);
  bytes.remove_prefix(sizeof size);
  if (size > bytes.size()) return std::nullopt;
  Charsmap charsmap(bytes.substr(0, size), bytes.substr(size));
  if (!TrieCheck(charsmap.units_, charsmap.texts_.size()).is_safe()) return std::nullopt;
  return charsmap;
}

std::optional<std::string_view> Charsmap::find(std::string_view text) const {
  std::size_t node = Unit(units_[0]).offset();
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    node ^= byte;
    const Unit unit(units_[node]);
    if (byte == 0 || unit.label() != byte) return std::nullopt;
    node ^= unit.offset();
    if (unit.has_leaf()) {
      const auto found = std::string_view(texts_).substr(Unit(units_[node]).value());
      return found.substr(0, found.find('\0'));
    }
  }
  return std::nullopt;
}

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
