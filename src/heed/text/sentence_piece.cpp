#include "heed/text/sentence_piece.h"

#include <sentencepiece_processor.h>

#include <cstdint>
#include <new>

#include "heed/base/error.h"
#include "heed/text/charsmap.h"
#include "heed/text/message_reader.h"

namespace heed::text {
namespace {

constexpr std::size_t max_pieces = 1 << 22;

// Of a serialised model, before SentencePiece takes memory for them.
std::size_t count_pieces(std::string_view model) {
  constexpr std::uint64_t pieces = 1;
  MessageReader reader(model);
  std::size_t count = 0;
  while (reader.find(pieces)) ++count;
  return count;
}

// A number in one of the parts of a serialised SentencePiece model, or its default. A part that
// comes several times is merged: the last value counts.
std::uint64_t number_in(std::string_view model, int part, int field, std::uint64_t otherwise) {
  std::uint64_t number = otherwise;
  for (MessageReader outer(model); outer.find(part);) {
    for (MessageReader inner(outer.content); inner.find(field);) number = inner.number;
  }
  return number;
}

constexpr std::uint64_t unigram_type = 1, bpe_type = 2, word_type = 3, character_type = 4;

Subwords subwords_of(std::string_view model) {
  constexpr int trainer_spec = 2, model_type = 3, byte_fallback = 35;
  switch (number_in(model, trainer_spec, model_type, unigram_type)) {
    case bpe_type:
      return Subwords::bpe;
    case word_type:
      return Subwords::word;
    case character_type:
      // Characters that all fall back to bytes.
      return number_in(model, trainer_spec, byte_fallback, 0) ? Subwords::byte
                                                              : Subwords::character;
    default:
      return Subwords::unigram;
  }
}

bool adds_space_before(std::string_view model) {
  constexpr int normalizer_spec = 3, add_dummy_prefix = 3;
  return number_in(model, normalizer_spec, add_dummy_prefix, 1) != 0;
}

bool loads(sentencepiece::SentencePieceProcessor& processor, std::string_view model) {
  try {
    return processor.LoadFromSerializedProto(model).ok();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {  // its trie throws for some pieces, those with a zero byte
    return false;
  }
}

}  // namespace

SentencePiece::SentencePiece(std::string_view bytes, const std::string& name)
    : processor_(std::make_unique<sentencepiece::SentencePieceProcessor>()) {
  const std::size_t num_pieces = count_pieces(bytes);
  check_as(ErrorKind::model, num_pieces <= max_pieces, name, ": expected at most ", max_pieces,
           " pieces, found ", num_pieces);
  check_as(ErrorKind::model, has_safe_charsmaps(bytes) && loads(*processor_, bytes), name,
           ": not a SentencePiece model");
  subwords_ = subwords_of(bytes);
  has_space_before_ = adds_space_before(bytes);
}

SentencePiece::~SentencePiece() = default;

int SentencePiece::size() const { return processor_->GetPieceSize(); }
int SentencePiece::pad() const { return processor_->pad_id(); }
int SentencePiece::unknown() const { return processor_->unk_id(); }
int SentencePiece::begin() const { return processor_->bos_id(); }
int SentencePiece::end() const { return processor_->eos_id(); }

std::vector<int> SentencePiece::encode(std::string_view text) const {
  std::vector<int> ids;
  const auto status = processor_->Encode(text, &ids);
  check_as(ErrorKind::model, status.ok(), "tokenizer: cannot encode: ", status.message());
  return ids;
}

std::vector<std::string> SentencePiece::encode_pieces(std::string_view text) const {
  std::vector<std::string> pieces;
  const auto status = processor_->Encode(text, &pieces);
  check_as(ErrorKind::model, status.ok(), "tokenizer: cannot encode: ", status.message());
  return pieces;
}

std::string SentencePiece::decode(std::span<const int> ids) const {
  std::string text;
  const auto status = processor_->Decode(std::vector<int>(ids.begin(), ids.end()), &text);
  check_as(ErrorKind::model, status.ok(), "tokenizer: cannot decode: ", status.message());
  return text;
}

std::string SentencePiece::piece(int id) const { return processor_->IdToPiece(id); }

bool SentencePiece::is_control(int id) const { return processor_->IsControl(id); }

// SentencePiece calls these pieces <0x00> to <0xFF>.
std::optional<char> SentencePiece::byte(int id) const {
  if (!processor_->IsByte(id)) return std::nullopt;
  constexpr std::size_t first_digit = 3;
  return static_cast<char>(std::stoi(piece(id).substr(first_digit, 2), nullptr, 16));
}

// It gives the unknown piece for what it does not have.
std::optional<int> SentencePiece::find(std::string_view piece) const {
  const int id = processor_->PieceToId(piece);
  if (id == unknown() && piece != processor_->IdToPiece(id)) return std::nullopt;
  return id;
}

}  // namespace heed::text
