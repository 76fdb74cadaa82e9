#include "heed/text/vocabulary.h"

#include <functional>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/printable.h"

namespace heed::text {

Vocabulary Vocabulary::read(const io::JsonFields& fields, const std::string& name) {
  const std::string place = fields.place(name);
  check_as(ErrorKind::model, fields.has(name) && fields.json().at(name).is_object(), place,
           ": expected an object of pieces and ids");
  Vocabulary vocabulary;
  for (const auto& [piece, value] : fields.json().at(name).items()) {
    const bool is_id = value.is_number_unsigned() && value.get<std::uint64_t>() < max_ids;
    check_as(ErrorKind::model, is_id, place, ": expected ids from 0 to ", max_ids - 1,
             ", found another value for \"", excerpt(piece), '"');
    const int id = value.get<int>();
    check_as(ErrorKind::model, !vocabulary.piece(id), place, ": expected each id once, found ", id,
             " twice");
    vocabulary.add(piece, id);
  }
  return vocabulary;
}

void Vocabulary::add(std::string_view piece, int id) {
  const auto index = static_cast<std::size_t>(id);
  if (index >= pieces_.size()) pieces_.resize(index + 1);
  pieces_[index] = {bytes_.size(), static_cast<std::uint32_t>(piece.size()), true};
  bytes_ += piece;
  if (2 * (size_ + 1) > slots_.size()) grow();
  int& slot = slots_[slot_of(piece)];
  if (slot < 0) ++size_;
  slot = id;
}

std::optional<int> Vocabulary::find(std::string_view piece) const {
  const int id = slots_[slot_of(piece)];
  return id < 0 ? std::nullopt : std::optional(id);
}

std::optional<std::string_view> Vocabulary::piece(int id) const {
  const auto index = static_cast<std::size_t>(id);
  if (id < 0 || index >= pieces_.size() || !pieces_[index].is_used) return std::nullopt;
  return text_of(pieces_[index]);
}

// Where the piece is, or the free place where it belongs.
std::size_t Vocabulary::slot_of(std::string_view piece) const {
  std::size_t slot = std::hash<std::string_view>()(piece);
  while (true) {
    slot &= slots_.size() - 1;
    const int id = slots_[slot];
    if (id < 0 || text_of(pieces_[static_cast<std::size_t>(id)]) == piece) return slot;
    ++slot;
  }
}

void Vocabulary::grow() {
  std::vector<int> old(2 * slots_.size(), -1);
  old.swap(slots_);
  for (const int id : old) {
    if (id >= 0) slots_[slot_of(text_of(pieces_[static_cast<std::size_t>(id)]))] = id;
  }
}

}  // namespace heed::text
