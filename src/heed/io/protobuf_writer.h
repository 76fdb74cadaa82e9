// Writes protobuf messages: SentencePiece models and ONNX models are ones. text/message_reader.h
// reads them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heed::io {

class MessageWriter {
 public:
  void number(int field, std::uint64_t value);  // of any integer type, enums and bool included
  void real(int field, float value);
  // A text, bytes, or the content of another message.
  void bytes(int field, std::string_view value);
  // The head of such a field whose content follows elsewhere.
  void bytes_head(int field, std::uint64_t size);

  std::string content;

 private:
  void tag(int field, std::uint64_t wire_type);
  void varint(std::uint64_t value);
};

}  // namespace heed::io
