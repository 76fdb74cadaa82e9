#include "heed/text/byte_sentencepiece.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "heed/io/protobuf_writer.h"
#include "heed/text/special_tokens.h"

namespace heed::text {
namespace {

// SentencePiece.Type
constexpr std::uint64_t unknown_type = 2, control_type = 3, byte_type = 6;

std::string piece(std::string_view text, std::uint64_t type) {
  constexpr int piece_field = 1, type_field = 3;
  io::MessageWriter message;
  message.bytes(piece_field, text);
  message.number(type_field, type);
  return message.content;
}

// Characters of which none is known, so that all fall back to bytes.
std::string trainer_spec(std::uint64_t vocabulary) {
  constexpr int model_type = 3, vocab_size = 4, byte_fallback = 35;
  constexpr int unk_id = 40, bos_id = 41, eos_id = 42, pad_id = 43;
  constexpr std::uint64_t character_type = 4;
  io::MessageWriter message;
  message.number(model_type, character_type);
  message.number(vocab_size, vocabulary);
  message.number(byte_fallback, 1);
  message.number(unk_id, own_tokens::unknown);
  message.number(bos_id, own_tokens::begin);
  message.number(eos_id, own_tokens::end);
  message.number(pad_id, own_tokens::pad);
  return message.content;
}

// A text stays as it is.
std::string normalizer_spec() {
  constexpr int name = 1, add_dummy_prefix = 3, remove_extra_whitespaces = 4,
                escape_whitespaces = 5;
  io::MessageWriter message;
  message.bytes(name, "identity");
  message.number(add_dummy_prefix, 0);
  message.number(remove_extra_whitespaces, 0);
  message.number(escape_whitespaces, 0);
  return message.content;
}

}  // namespace

std::string byte_sentencepiece() {
  constexpr int pieces = 1, trainer = 2, normalizer = 3;
  constexpr int num_bytes = 256, num_special = 4;
  io::MessageWriter model;
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
