#include "heed/text/tokenizer.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "heed/base/error.h"
#include "heed/io/files.h"
#include "heed/text/byte_sentencepiece.h"
#include "heed/text/message_reader.h"
#include "heed/text/sentence_piece_tokenizer.h"
#include "heed/text/tokenizer_folder.h"
#include "heed/text/tokenizer_parts.h"
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

// One of the ids of special tokens in a serialised model; the last value counts.
std::uint64_t trainer_number(std::string_view model, std::uint64_t field) {
  constexpr std::uint64_t trainer_spec = 2;
  std::uint64_t number = 0;
  for (MessageReader outer(model); outer.find(trainer_spec);) {
    for (MessageReader inner(outer.content); inner.find(field);) number = inner.number;
  }
  return number;
}

void check_own_ids(const SentencePiece& pieces, const std::string& name) {
  const SpecialTokens own;
  check_as(ErrorKind::model,
           pieces.pad() == own.pad && pieces.unknown() == own.unknown &&
               pieces.begin() == own.begin && pieces.end() == own.end(),
           name, ": expected the ids pad 0, unk 1, bos 2, eos 3, found pad ", pieces.pad(),
           ", unk ", pieces.unknown(), ", bos ", pieces.begin(), ", eos ", pieces.end());
}

// Ids without those that stand for no text.
template <typename IsLeftOut>
std::vector<int> without(std::span<const int> ids, IsLeftOut&& is_left_out) {
  std::vector<int> kept;
  std::ranges::remove_copy_if(ids, std::back_inserter(kept), is_left_out);
  return kept;
}

}  // namespace

Tokenizer Tokenizer::train(std::span<const std::string> lines, const TokenizerOptions& options) {
  const bool is_byte = options.subwords == Subwords::byte;
  check_as(ErrorKind::usage, !is_byte || !options.with_mask,
           "subwords: expected bpe, unigram, word or char for masked words, got byte");
  return from_bytes(is_byte ? byte_sentencepiece() : train_sentencepiece(lines, options));
}

bool Tokenizer::is_own(std::string_view bytes) {
  constexpr std::uint64_t unknown_id = 40, begin_id = 41, end_id = 42;
  return trainer_number(bytes, unknown_id) == own_tokens::unknown &&
         trainer_number(bytes, begin_id) == own_tokens::begin &&
         trainer_number(bytes, end_id) == own_tokens::end;
}

Tokenizer Tokenizer::load(const std::filesystem::path& path) {
  return from_bytes(io::read_file(path.string(), ErrorKind::model, max_sentence_piece_bytes),
                    path.string());
}

Tokenizer Tokenizer::from_bytes(std::string_view bytes, const std::string& name) {
  auto model = std::make_unique<SentencePieceTokenizer>(bytes, name);
  check_own_ids(model->pieces(), name);
  auto parts = std::make_shared<Parts>();
  parts->mask = model->find(mask_piece);
  parts->model = std::move(model);
  parts->sequence = own_sequence();
  parts->files["tokenizer.model"] = bytes;
  parts->is_own = true;
  return Tokenizer(std::move(parts));
}

Tokenizer Tokenizer::load_folder(const std::string& folder) {
  return TokenizerFolder(folder).load();
}

bool Tokenizer::is_in(const std::string& folder) { return TokenizerFolder::has_any(folder); }

std::span<const char* const> Tokenizer::file_names() { return TokenizerFolder::file_names(); }

Tokenizer Tokenizer::load_any(const std::string& path) {
  if (io::is_folder(path, ErrorKind::model)) return load_folder(path);
  const std::size_t slash = path.rfind('/');
  const TokenizerFolder folder(slash == path.npos ? "." : path.substr(0, slash));
  if (path.ends_with(".json")) return folder.load_json(path);
  const std::string bytes = io::read_file(path, ErrorKind::model, max_sentence_piece_bytes);
  return is_own(bytes) ? from_bytes(bytes, path) : folder.load_sentence_piece(path);
}

const TokenizerFiles& Tokenizer::files() const { return parts_->files; }

bool Tokenizer::is_own() const { return parts_->is_own; }

const std::string& Tokenizer::bytes() const {
  check(is_own(), "tokenizer: expected one of Heed's own, got one of another family");
  return parts_->files.begin()->second;
}

const SpecialTokens& Tokenizer::tokens() const { return parts_->tokens; }

int Tokenizer::end_token() const {
  const int end = tokens().end();
  check_as(ErrorKind::model, end >= 0, "tokenizer: expected an end token, found none");
  return end;
}

const SequenceTemplate& Tokenizer::sequence() const { return parts_->sequence; }

bool Tokenizer::is_special(int id) const {
  const SpecialTokens& tokens = parts_->tokens;
  if (id == parts_->mask) return false;
  if (id == tokens.pad || id == tokens.begin || tokens.is_end(id)) return true;
  return id != tokens.unknown && parts_->model->is_special(id);
}

int Tokenizer::size() const { return parts_->model->size(); }

Subwords Tokenizer::subwords() const { return parts_->model->subwords(); }

std::string_view Tokenizer::algorithm() const { return parts_->model->algorithm(); }

std::vector<int> Tokenizer::encode(std::string_view text) const {
  return parts_->model->encode(text);
}

std::vector<int> Tokenizer::encode_target(std::string_view text) const {
  return parts_->model->encode_target(text);
}

// The special tokens of SentencePiece are not part of a text, unless its folder says so.
Encoding Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  if (auto whole = parts_->model->encode_whole(text, options)) return *std::move(whole);
  const std::vector<int> ids = encode(text);
  const bool is_alone = is_own() || !options.with_special;
  Encoding encoding{.ids = is_alone ? ids : sequence().single(ids)};
  for (const int id : encoding.ids) encoding.tokens.push_back(parts_->model->token(id));
  return encoding;
}

std::string Tokenizer::decode(std::span<const int> ids) const {
  for (const int id : ids) {
    check(id >= 0 && (id < size() || !is_own()), "tokenizer: expected ids from 0 to ", size() - 1,
          ", got ", id);
  }
  if (is_own()) return parts_->model->decode(ids);
  return parts_->model->decode(
      without(ids, [this](int id) { return is_special(id) || id == tokens().unknown; }));
}

std::string Tokenizer::decode(std::span<const int> ids, const DecodeOptions& options) const {
  if (is_own()) return decode(ids);
  return parts_->model->decode(without(ids, [&](int id) {
    return id < 0 || (options.skip_special && parts_->model->is_special(id));
  }));
}

std::string Tokenizer::piece(int id) const {
  check(id >= 0 && (id < size() || !is_own()), "tokenizer: expected an id from 0 to ", size() - 1,
        ", got ", id);
  return parts_->model->piece(id);
}

std::string Tokenizer::surface(int id) const {
  const bool is_silent = is_special(id) || (!is_own() && id == tokens().unknown);
  return is_silent ? "" : parts_->model->surface(id);
}

std::optional<int> Tokenizer::mask() const { return parts_->mask; }

std::string Tokenizer::mask_text() const {
  return parts_->mask ? parts_->model->token(*parts_->mask) : "";
}

bool Tokenizer::has_space_before() const { return parts_->model->has_space_before(); }

std::optional<char> Tokenizer::byte(int id) const { return parts_->model->byte(id); }

}  // namespace heed::text
