#include "heed/text/tokenizer.h"

#include <sentencepiece_processor.h>

#include <array>
#include <cstdint>
#include <new>
#include <optional>
#include <utility>

#include "heed/base/error.h"
#include "heed/io/files.h"
#include "heed/text/byte_sentencepiece.h"
#include "heed/text/charsmap.h"
#include "heed/text/message_reader.h"
#include "heed/text/tokenizer_training.h"

namespace heed {

template <>
std::span<const Choice<text::Subwords>> choices() {
  using text::Subwords;
  static constexpr std::array all{
      Choice{"bpe", Subwords::bpe}, Choice{"unigram", Subwords::unigram},
      Choice{"word", Subwords::word}, Choice{"char", Subwords::character},
      Choice{"byte", Subwords::byte}};
  return all;
}

}  // namespace heed

namespace heed::text {
namespace {

constexpr std::uint64_t max_model_bytes = std::uint64_t{64} << 20;
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

bool has_space_before(std::string_view model) {
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

struct Tokenizer::Model {
  std::string bytes;
  Subwords subwords = Subwords::bpe;
  bool has_space_before = true;
  sentencepiece::SentencePieceProcessor processor;
};

Tokenizer Tokenizer::train(std::span<const std::string> lines, const TokenizerOptions& options) {
  const bool is_byte = options.subwords == Subwords::byte;
  check_as(ErrorKind::usage, !is_byte || !options.with_mask,
           "subwords: expected bpe, unigram, word or char for masked words, got byte");
  return from_bytes(is_byte ? byte_sentencepiece() : train_sentencepiece(lines, options));
}

Tokenizer Tokenizer::load(const std::filesystem::path& path) {
  return from_bytes(io::read_file(path.string(), ErrorKind::model, max_model_bytes), path.string());
}

Tokenizer Tokenizer::from_bytes(std::string_view bytes, const std::string& name) {
  const std::size_t num_pieces = count_pieces(bytes);
  check_as(ErrorKind::model, num_pieces <= max_pieces, name, ": expected at most ", max_pieces,
           " pieces, found ", num_pieces);
  auto model = std::make_shared<Model>();
  model->bytes = bytes;
  check_as(ErrorKind::model,
           has_safe_charsmaps(model->bytes) && loads(model->processor, model->bytes), name,
           ": not a SentencePiece model");

  const auto& processor = model->processor;
  check_as(ErrorKind::model,
           processor.pad_id() == pad && processor.unk_id() == unknown &&
               processor.bos_id() == begin && processor.eos_id() == end,
           name, ": expected the ids pad 0, unk 1, bos 2, eos 3, found pad ", processor.pad_id(),
           ", unk ", processor.unk_id(), ", bos ", processor.bos_id(), ", eos ",
           processor.eos_id());
  model->subwords = subwords_of(model->bytes);
  model->has_space_before = text::has_space_before(model->bytes);
  return Tokenizer(std::move(model));
}

const std::string& Tokenizer::bytes() const { return model_->bytes; }

int Tokenizer::size() const { return model_->processor.GetPieceSize(); }

Subwords Tokenizer::subwords() const { return model_->subwords; }

std::vector<int> Tokenizer::encode(std::string_view text) const {
  std::vector<int> ids;
  const auto status = model_->processor.Encode(text, &ids);
  check_as(ErrorKind::model, status.ok(), "tokenizer: cannot encode: ", status.message());
  return ids;
}

std::string Tokenizer::decode(std::span<const int> ids) const {
  for (const int id : ids) {
    check(id >= 0 && id < size(), "tokenizer: expected ids from 0 to ", size() - 1, ", got ", id);
  }
  std::string text;
  const auto status = model_->processor.Decode(std::vector<int>(ids.begin(), ids.end()), &text);
  check_as(ErrorKind::model, status.ok(), "tokenizer: cannot decode: ", status.message());
  return text;
}

std::string Tokenizer::piece(int id) const {
  check(id >= 0 && id < size(), "tokenizer: expected an id from 0 to ", size() - 1, ", got ", id);
  return model_->processor.IdToPiece(id);
}

std::optional<int> Tokenizer::mask() const {
  const int id = model_->processor.PieceToId(mask_piece);
  return id == unknown ? std::nullopt : std::optional(id);
}

bool Tokenizer::has_space_before() const { return model_->has_space_before; }

// SentencePiece calls these pieces <0x00> to <0xFF>.
std::optional<char> Tokenizer::byte(int id) const {
  if (!model_->processor.IsByte(id)) return std::nullopt;
  constexpr std::size_t first_digit = 3;
  return static_cast<char>(std::stoi(piece(id).substr(first_digit, 2), nullptr, 16));
}

}  // namespace heed::text
