#include "heed/text/tokenizer.h"

#include <sentencepiece_processor.h>

#include <array>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "heed/base/error.h"
#include "heed/text/message_reader.h"
#include "heed/text/tokenizer_training.h"

namespace heed::text {
namespace {

constexpr std::array<std::pair<Subwords, std::string_view>, 4> subword_names = {{
    {Subwords::bpe, "bpe"},
    {Subwords::unigram, "unigram"},
    {Subwords::word, "word"},
    {Subwords::character, "char"},
}};

// ModelProto.trainer_spec.model_type, whose default is unigram.
Subwords subwords_of(std::string_view model) {
  constexpr int trainer_spec = 2, model_type = 3;
  MessageReader outer(model);
  if (!outer.find(trainer_spec)) return Subwords::unigram;
  MessageReader inner(outer.content);
  if (!inner.find(model_type)) return Subwords::unigram;
  switch (inner.number) {
    case 2:
      return Subwords::bpe;
    case 3:
      return Subwords::word;
    case 4:
      return Subwords::character;
    default:
      return Subwords::unigram;
  }
}

}  // namespace

Subwords parse_subwords(std::string_view name) {
  for (const auto& [subwords, its_name] : subword_names) {
    if (name == its_name) return subwords;
  }
  fail(ErrorKind::usage, "subwords: expected bpe, unigram, word or char, got '", name, "'");
}

std::string_view to_string(Subwords subwords) {
  for (const auto& [other, name] : subword_names) {
    if (other == subwords) return name;
  }
  return "";
}

struct Tokenizer::Model {
  std::string bytes;
  Subwords subwords = Subwords::bpe;
  sentencepiece::SentencePieceProcessor processor;
};

Tokenizer Tokenizer::train(std::span<const std::string> lines, const TokenizerOptions& options) {
  return from_bytes(train_sentencepiece(lines, options));
}

Tokenizer Tokenizer::load(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  check_as(ErrorKind::model, file.is_open(), path.string(), ": cannot open the tokenizer");
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return from_bytes(bytes, path.string());
}

Tokenizer Tokenizer::from_bytes(std::string_view bytes, const std::string& name) {
  auto model = std::make_shared<Model>();
  model->bytes = bytes;
  const auto status = model->processor.LoadFromSerializedProto(model->bytes);
  check_as(ErrorKind::model, status.ok(), name, ": not a SentencePiece model");

  const auto& processor = model->processor;
  check_as(ErrorKind::model,
           processor.pad_id() == pad && processor.unk_id() == unknown &&
               processor.bos_id() == begin && processor.eos_id() == end,
           name, ": expected the ids pad 0, unk 1, bos 2, eos 3, found pad ", processor.pad_id(),
           ", unk ", processor.unk_id(), ", bos ", processor.bos_id(), ", eos ",
           processor.eos_id());
  model->subwords = subwords_of(model->bytes);
  return Tokenizer(std::move(model));
}

const std::string& Tokenizer::bytes() const { return model_->bytes; }

int Tokenizer::size() const { return model_->processor.GetPieceSize(); }

Subwords Tokenizer::subwords() const { return model_->subwords; }

std::vector<int> Tokenizer::encode(std::string_view text) const {
  std::vector<int> ids;
  const auto status = model_->processor.Encode(text, &ids);
  check(status.ok(), "tokenizer: cannot encode: ", status.message());
  return ids;
}

std::string Tokenizer::decode(std::span<const int> ids) const {
  for (const int id : ids) {
    check(id >= 0 && id < size(), "tokenizer: expected ids from 0 to ", size() - 1, ", got ", id);
  }
  std::string text;
  const auto status = model_->processor.Decode(std::vector<int>(ids.begin(), ids.end()), &text);
  check(status.ok(), "tokenizer: cannot decode: ", status.message());
  return text;
}

std::string Tokenizer::piece(int id) const {
  check(id >= 0 && id < size(), "tokenizer: expected an id from 0 to ", size() - 1, ", got ", id);
  return model_->processor.IdToPiece(id);
}

}  // namespace heed::text
