#include "heed/text/byte_sentencepiece.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "heed/text/special_tokens.h"

namespace heed::text {
namespace {

// Protocol buffers' wire format, as far as a SentencePiece model needs it.
class MessageWriter {
 public:
  void number(int field, std::uint64_t value) {
    varint(static_cast<std::uint64_t>(field) << 3);
    varint(value);
  }
  void bytes(int field, std::string_view value) {
    constexpr std::uint64_t length_delimited = 2;
    varint(static_cast<std::uint64_t>(field) << 3 | length_delimited);
    varint(value.size());
    content += value;
  }

  std::string content;

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) content += static_cast<char>(value | 0x80);
    content += static_cast<char>(value);
  }
};

// SentencePiece.Type
constexpr std::uint64_t unknown_type = 2, control_type = 3, byte_type = 6;

std::string piece(std::string_view text, std::uint64_t type) {
  constexpr int piece_field = 1, type_field = 3;
  MessageWriter generator;
  generator.bytes(piece_field, text);
  generator.number(type_field, type);
  return generator.content;
}

// Characters of which none is known, so that all fall back to bytes.
std::string trainer_spec(std::uint64_t vocabulary) {
  constexpr int model_type = 3, vocab_size = 4, byte_fallback = 35;
  constexpr int unk_id = 40, bos_id = 41, eos_id = 42, pad_id = 43;
  constexpr std::uint64_t character_type = 4;
  MessageWriter generator;
  generator.number(model_type, character_type);
  generator.number(vocab_size, vocabulary);
  generator.number(byte_fallback, 1);
  generator.number(unk_id, own_tokens::unknown);
  generator.number(bos_id, own_tokens::begin);
  generator.number(eos_id, own_tokens::end);
  generator.number(pad_id, own_tokens::pad);
  return generator.content;
}

// A text stays as it is.
std::string normalizer_spec() {
  constexpr int name = 1, add_dummy_prefix = 3, remove_extra_whitespaces = 4,
                escape_whitespaces = 5;
  MessageWriter generator;
  generator.bytes(name, "identity");
  generator.number(add_dummy_prefix, 0);
  generator.number(remove_extra_whitespaces, 0);
  generator.number(escape_whitespaces, 0);
  return generator.content;
}

}  // namespace

std::string byte_sentencepiece() {
  constexpr int pieces = 1, trainer = 2, normalizer = 3;
  constexpr int num_bytes = 256, num_special = 4;
  MessageWriter model;
  model.bytes(pieces, piece("<pad>", control_type));
  model.bytes(pieces, piece("<unk>", unknown_type));
  model.bytes(pieces, piece("<s>", control_type));
  model.bytes(pieces, piece("</s>", control_type));
  for (int byte = 0; byte < num_bytes; ++byte) {
    model.bytes(pieces, piece(fmt::format("<0x{:02X}>", byte), byte_type));
  }
  model.bytes(trainer, trainer_spec(num_special + num_bytes));
  model.bytes(normalizer, normalizer_spec());
  return model.content;
}

}  // namespace heed::text
