// Pieces and their ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/json_fields.h"

namespace heed::text {

class Vocabulary {
 public:
  static constexpr int max_ids = 1 << 22;

  Vocabulary() = default;
  // The field `name`, an object of pieces with their ids: {"a": 0, "b": 1}. Refuses
  // (ErrorKind::model) ids that are no ids, or that two pieces share.
  static Vocabulary read(const io::JsonFields& fields, const std::string& name);

  // A piece that is there already gets the new id too: find() gives the last one.
  void add(std::string_view piece, int id);

  std::optional<int> find(std::string_view piece) const;
  // Nothing for an id that has none.
  std::optional<std::string_view> piece(int id) const;
  std::size_t size() const { return size_; }                        // in pieces
  int num_ids() const { return static_cast<int>(pieces_.size()); }  // the largest one + 1

 private:
  struct Piece {
    std::size_t begin = 0;
    std::uint32_t size = 0;
    bool is_used = false;
  };

  std::string_view text_of(const Piece& piece) const {
    return std::string_view(bytes_).substr(piece.begin, piece.size);
  }
  std::size_t slot_of(std::string_view piece) const;
  void grow();

  std::string bytes_;                                  // of all pieces
  std::vector<Piece> pieces_;                          // by id
  std::vector<int> slots_ = std::vector<int>(16, -1);  // a hash table of ids; -1: free
  std::size_t size_ = 0;
};

}  // namespace heed::text
