#include "heed/text/json_tokenizer.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/io/files.h"
#include "heed/io/json_fields.h"
#include "heed/text/added_tokens.h"
#include "heed/text/code_points.h"
#include "heed/text/encoding_length.h"
#include "heed/text/normalizers.h"
#include "heed/text/post_processor.h"
#include "heed/text/pre_tokenizers.h"
#include "heed/text/subword_model.h"
#include "heed/text/token_decoders.h"

namespace heed::text {
namespace {

constexpr std::uint64_t max_file_bytes = std::uint64_t{128} << 20;
constexpr std::size_t max_text_bytes = std::size_t{1} << 30;

// Which character of a text each byte belongs to; one more for its end.
std::vector<std::uint32_t> count_characters(std::string_view text) {
  std::vector<std::uint32_t> counts(text.size() + 1);
  std::uint32_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) {
    const std::size_t end = std::min(at + utf8_length(text[at]), text.size());
    while (at < end) counts[at++] = count;
  }
  counts.back() = count;
  return counts;
}

// A section of the file, or nothing where it is null.
template <typename Section>
std::optional<Section> read_section(const io::JsonFields& file, const std::string& name) {
  if (!file.has(name)) return std::nullopt;
  return Section(file.object(name));
}

TokenBytes token_bytes_of(const io::JsonFields& decoder) {
  const std::string type = decoder.text("type");
  if (type == "ByteLevel") return TokenBytes::alphabet;
  if (type == "ByteFallback") return TokenBytes::fallback;
  for (const io::JsonFields& step : decoder.optional_objects("decoders")) {
    const TokenBytes bytes = token_bytes_of(step);
    if (bytes != TokenBytes::none) return bytes;
  }
  return TokenBytes::none;
}

std::optional<int> unknown_of(const io::JsonFields& model, const Vocabulary& vocabulary) {
  if (const auto id = model.optional_integer("unk_id", {.min = 0, .max = Vocabulary::max_ids})) {
    return static_cast<int>(*id);
  }
  const std::optional<std::string> token = model.optional_text("unk_token");
  return token ? vocabulary.find(*token) : std::nullopt;
}

}  // namespace

struct JsonTokenizer::Parts {
  explicit Parts(const io::JsonFields& file);

  Encoding encode(std::string_view text) const;
  Encoding process(Encoding text, std::optional<Encoding> second,
                   const EncodeOptions& options) const;
  std::optional<std::string> token(int id) const;
  int num_ids() const { return std::max(model->vocabulary().num_ids(), added.num_ids()); }

  Normalizer normalizer;  // these two may be empty
  PreTokenizer pre_tokenizer;
  std::unique_ptr<const SubwordModel> model;
  AddedTokens added;
  PostProcessor post_processor;
  std::optional<Truncation> truncation;
  std::optional<Padding> padding;
  TokenDecoder decoder;  // may be empty
  TokenBytes token_bytes = TokenBytes::none;
  std::optional<int> unknown;
  std::string_view algorithm;

 private:
  void add_tokens(const TextPieces& pieces, const TextPiece& piece,
                  const std::vector<WordPart>& parts, const std::vector<std::uint32_t>& characters,
                  Encoding& to) const;
};

JsonTokenizer::Parts::Parts(const io::JsonFields& file)
    : model(read_subword_model(file.object("model"))),
      truncation(read_section<Truncation>(file, "truncation")),
      padding(read_section<Padding>(file, "padding")) {
  if (file.has("normalizer")) normalizer = read_normalizer(file.object("normalizer"));
  if (file.has("pre_tokenizer")) pre_tokenizer = read_pre_tokenizer(file.object("pre_tokenizer"));
  if (file.has("post_processor")) post_processor = PostProcessor(file.object("post_processor"));
  if (file.has("decoder")) {
    decoder = read_token_decoder(file.object("decoder"));
    token_bytes = token_bytes_of(file.object("decoder"));
  }
  unknown = unknown_of(file.object("model"), model->vocabulary());
  algorithm = subword_model_type(file.object("model"));
  added = AddedTokens(file, model->vocabulary(), normalizer);
}

std::optional<std::string> JsonTokenizer::Parts::token(int id) const {
  if (const AddedToken* token = added.find(id)) return token->content;
  const std::optional<std::string_view> piece = model->vocabulary().piece(id);
  return piece ? std::optional(std::string(*piece)) : std::nullopt;
}

Encoding JsonTokenizer::Parts::encode(std::string_view text) const {
  TextPieces pieces = added.split(text, normalizer);
  if (pre_tokenizer) pre_tokenizer(pieces);
  const std::vector<std::uint32_t> characters = count_characters(text);
  Encoding encoding;
  std::vector<WordPart> parts;
  for (const TextPiece& piece : pieces.pieces()) {
    const std::string_view word = pieces.bytes(piece);
    parts.clear();
    if (piece.added_token) {
      parts.push_back({*piece.added_token, {0, word.size()}, true});
    } else {
      model->segment(word, parts);
    }
    add_tokens(pieces, piece, parts, characters, encoding);
  }
  return encoding;
}

void JsonTokenizer::Parts::add_tokens(const TextPieces& pieces, const TextPiece& piece,
                                      const std::vector<WordPart>& parts,
                                      const std::vector<std::uint32_t>& characters,
                                      Encoding& to) const {
  const std::string_view word = pieces.bytes(piece);
  const SourceSpan* sources = pieces.text().sources.data() + piece.range.begin;
  for (const WordPart& part : parts) {
    // The bytes that an affix of a piece falls back to are beyond the word.
    const std::size_t end = std::min(part.range.end, word.size());
    const std::size_t begin = std::min(part.range.begin, end - 1);
    const std::string_view token =
        part.is_as_written ? word.substr(begin, end - begin) : *model->vocabulary().piece(part.id);
    to.push_back({.id = part.id,
                  .token = std::string(token),
                  .offsets = {characters[sources[begin].begin], characters[sources[end - 1].end]}});
  }
}

Encoding JsonTokenizer::Parts::process(Encoding text, std::optional<Encoding> second,
                                       const EncodeOptions& options) const {
  const std::size_t num_added =
      options.with_special ? post_processor.num_added(second.has_value()) : 0;
  if (truncation && options.fits_length)
    truncation->apply(text, second ? &*second : nullptr, num_added);
  Encoding all = post_processor.process(std::move(text), std::move(second), options.with_special);
  if (padding && options.fits_length) padding->apply(all);
  return all;
}

JsonTokenizer JsonTokenizer::load(const std::string& path) {
  return from_bytes(io::read_file(path, ErrorKind::model, max_file_bytes), path);
}

JsonTokenizer JsonTokenizer::from_bytes(std::string_view bytes, const std::string& name) {
  return JsonTokenizer(std::make_shared<const Parts>(io::JsonFields::parse(bytes, name)));
}

Encoding JsonTokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  return parts_->process(encode_one(text), std::nullopt, options);
}

Encoding JsonTokenizer::encode_pair(std::string_view text, std::string_view second,
                                    const EncodeOptions& options) const {
  return parts_->process(encode_one(text), encode_one(second), options);
}

Encoding JsonTokenizer::encode_one(std::string_view text) const {
  check(text.size() <= max_text_bytes, "tokenizer: expected a text of at most ", max_text_bytes,
        " bytes, got ", text.size());
  return is_valid_utf8(text) ? parts_->encode(text) : parts_->encode(repair_utf8(text));
}

std::string JsonTokenizer::decode(std::span<const int> ids, const DecodeOptions& options) const {
  std::vector<std::string> tokens;
  for (const int id : ids) {
    check(id >= 0 && id < size(), "tokenizer: expected ids from 0 to ", size() - 1, ", got ", id);
    if (options.skip_special && is_special(id)) continue;
    if (auto token = parts_->token(id)) tokens.push_back(*std::move(token));
  }
  if (parts_->decoder) parts_->decoder(tokens);
  const std::string_view between = parts_->decoder ? "" : " ";
  std::string text;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0) text += between;
    text += tokens[i];
  }
  return text;
}

int JsonTokenizer::size() const { return parts_->num_ids(); }

std::optional<int> JsonTokenizer::id(std::string_view token) const {
  const std::optional<int> added = parts_->added.find(token);
  return added ? added : parts_->model->vocabulary().find(token);
}

std::optional<std::string> JsonTokenizer::token(int id) const { return parts_->token(id); }

bool JsonTokenizer::is_added(int id) const { return parts_->added.find(id) != nullptr; }

bool JsonTokenizer::is_special(int id) const {
  const AddedToken* token = parts_->added.find(id);
  return token != nullptr && token->is_special;
}

SequenceTemplate JsonTokenizer::sequence() const { return parts_->post_processor.sequence(); }
std::optional<int> JsonTokenizer::unknown() const { return parts_->unknown; }
std::string_view JsonTokenizer::algorithm() const { return parts_->algorithm; }
TokenBytes JsonTokenizer::token_bytes() const { return parts_->token_bytes; }

}  // namespace heed::text
