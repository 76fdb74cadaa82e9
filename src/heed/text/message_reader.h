// Reads serialised protobuf messages. SentencePiece exposes little about a model, and its
// own message classes are not installed.
#pragma once

#include <cstdint>
#include <string_view>

namespace heed::text {

// Walks over the fields of a message. A truncated or damaged message ends the walk early.
class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : rest_(bytes) {}

  // Goes to the next field: `field` is its number, and its value is in `number` or, if it is no
  // integer, in `content`. False when there is none.
  bool next();
  // Goes to the next field of that number.
  bool find(std::uint64_t wanted);
  // Was there something that is no message, or no whole one, so far?
  bool is_damaged() const { return is_damaged_; }

  std::uint64_t field = 0;
  std::uint64_t number = 0;
  std::string_view content;

 private:
  std::uint64_t read_number();
  void read_value(int wire_type);
  void read_content(std::uint64_t length);

  std::string_view rest_;
  bool is_damaged_ = false;
};

}  // namespace heed::text
