// The table of a SentencePiece model that normalises characters: texts, and what each becomes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed::text {

// A serialised table: the size of a trie, the trie, and texts that end with a zero byte.
class Charsmap {
 public:
  // Nothing when the bytes are no table, or one that leads out of its own memory.
  static std::optional<Charsmap> read(std::string_view bytes);

  // What the shortest beginning of a text that the table has becomes; nothing when it has none.
  std::optional<std::string_view> find(std::string_view text) const;

 private:
  Charsmap(std::string_view units, std::string_view texts);

  std::vector<std::uint32_t> units_;
  std::string texts_;
};

// Do all tables of a serialised model lead to their own texts? SentencePiece follows them wherever
// they lead, out of its memory too. False also for a model that cannot be read to its end.
bool has_safe_charsmaps(std::string_view model);

}  // namespace heed::text
