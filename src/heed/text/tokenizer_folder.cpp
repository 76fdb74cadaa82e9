#include "heed/text/tokenizer_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "heed/base/error.h"
#include "heed/io/files.h"
#include "heed/text/json_tokenizer_model.h"
#include "heed/text/marian_tokenizer.h"
#include "heed/text/sentence_piece_tokenizer.h"
#include "heed/text/tokenizer_parts.h"
#include "heed/text/vocabulary_files.h"

namespace heed::text {
namespace {

constexpr std::uint64_t max_file_bytes = std::uint64_t{128} << 20;

constexpr std::array all_files{// Each of these says that a folder has a tokenizer.
                               "tokenizer.model",
                               "source.spm",
                               "tokenizer.json",
                               "spiece.model",
                               "merges.txt",
                               "vocab.txt",
                               "target.spm",
                               "vocab.json",
                               "target_vocab.json",
                               "tokenizer_config.json",
                               "special_tokens_map.json",
                               "added_tokens.json",
                               "chat_template.jinja"};
constexpr std::size_t num_leading_files = 6;
constexpr std::span<const char* const> tokenizer_files(all_files.data(), num_leading_files);

// Families whose ids are those of their SentencePiece model.
constexpr std::array sentence_piece_classes{
    ClassOfType{"llama", "LlamaTokenizer"},  ClassOfType{"mistral", "LlamaTokenizer"},
    ClassOfType{"phi3", "LlamaTokenizer"},   ClassOfType{"gemma", "GemmaTokenizer"},
    ClassOfType{"gemma2", "GemmaTokenizer"}, ClassOfType{"llama", "CodeLlamaTokenizer"},
    ClassOfType{"t5", "T5Tokenizer"},        ClassOfType{"mt5", "T5Tokenizer"},
    ClassOfType{"umt5", "T5Tokenizer"},      ClassOfType{"mt5", "MT5Tokenizer"},
};

std::string read_bytes(const std::string& path) {
  return io::read_file(path, ErrorKind::model, max_file_bytes);
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

SpecialTokens no_tokens() {
  constexpr int none = SpecialTokens::none;
  return {.pad = none, .unknown = none, .begin = none, .ends = {}, .decoder_start = none};
}

// T5 has its numbered tokens above all pieces: the last one has number 0.
std::vector<AddedToken> numbered_tokens(int size, int count) {
  std::vector<AddedToken> tokens;
  for (int number = count - 1; number >= 0; --number) {
    tokens.push_back({.id = size + count - 1 - number,
                      .content = fmt::format("<extra_id_{}>", number),
                      .strips_left = true,
                      .strips_right = true,
                      .is_special = true});
  }
  return tokens;
}

// How many of them a folder that does not list them has.
int count_numbered_tokens(const FolderSettings& settings, int size) {
  constexpr int usual = 100, most = 1 << 16;
  const int count = settings.number("extra_ids", most).value_or(usual);
  const int rows = settings.vocabulary().value_or(size + count);
  return std::min(count, std::max(rows - size, 0));
}

// Those that a text may hold: what the folder adds, and the special tokens of the model.
std::vector<AddedToken> tokens_in_text(const SentencePiece& pieces, const FolderSettings& settings,
                                       bool is_t5) {
  std::vector<AddedToken> tokens = settings.added_tokens();
  const auto has = [&](const std::string& content) {
    return std::ranges::find(tokens, content, &AddedToken::content) != tokens.end();
  };
  if (is_t5 && !has("<extra_id_0>")) {
    const int count = count_numbered_tokens(settings, pieces.size());
    for (AddedToken& token : numbered_tokens(pieces.size(), count)) {
      tokens.push_back(std::move(token));
    }
  }
  for (const int id : {pieces.pad(), pieces.unknown(), pieces.begin(), pieces.end()}) {
    const bool is_new = id >= 0 && !has(pieces.piece(id));
    if (is_new) tokens.push_back({.id = id, .content = pieces.piece(id), .is_special = true});
  }
  return tokens;
}

// The names that a token usually has, where nothing else says which one it is.
void set_usual(int& token, const TokenizerModel& model, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (token < 0) token = model.find(name).value_or(token);
  }
}

// Does the library put these tokens around a text, whatever the tokenizer.json says?
bool sets_own_template(const FolderSettings& settings) {
  const std::string name = settings.tokenizer_class();
  return (name == "LlamaTokenizer" || name == "GemmaTokenizer") &&
         (settings.flag("add_bos_token") || settings.flag("add_eos_token"));
}

void set_ends(SequenceTemplate& sequence, const SpecialTokens& tokens, bool adds_begin,
              bool adds_end) {
  sequence = {};
  if (adds_begin && tokens.begin >= 0) sequence.prefix = {tokens.begin};
  if (adds_end && tokens.end() >= 0) sequence.suffix = {tokens.end()};
  // As the library does: a second text begins and ends as the first one.
  sequence.between = sequence.suffix;
  sequence.between->insert(sequence.between->end(), sequence.prefix.begin(), sequence.prefix.end());
}

}  // namespace

std::span<const char* const> TokenizerFolder::file_names() { return all_files; }

bool TokenizerFolder::has_any(const std::string& folder) {
  return std::ranges::any_of(tokenizer_files, [&](const char* name) {
    return io::is_there(folder + '/' + name, ErrorKind::model);
  });
}

// A damaged file of ours must not pass for one of another family.
bool TokenizerFolder::must_be_own() const {
  const std::vector<int> ends = settings_.ids("eos_token_id");
  const bool has_own_end = ends.empty() || ends.front() == own_tokens::end;
  return settings_.model_type().starts_with("heed-") && has_own_end &&
         !settings_.path_of("tokenizer_config.json");
}

Tokenizer TokenizerFolder::load() const {
  const auto own = settings_.path_of("tokenizer.model");
  if (own && (must_be_own() || Tokenizer::is_own(read_bytes(*own)))) return Tokenizer::load(*own);
  if (settings_.path_of("source.spm")) return load_marian();
  if (const auto path = settings_.path_of("tokenizer.json")) return load_json(*path);
  if (own) return load_sentence_piece(*own);
  if (const auto path = settings_.path_of("spiece.model")) return load_sentence_piece(*path);
  if (settings_.path_of("merges.txt")) return load_byte_bpe();
  if (settings_.path_of("vocab.txt")) return load_word_pieces();
  std::string names;
  for (const char* name : tokenizer_files) names.append(names.empty() ? "" : ", ").append(name);
  fail(ErrorKind::model, settings_.folder(), ": expected a model folder with one of ", names,
       ", found none");
}

std::string TokenizerFolder::read(const std::string& path, Tokenizer::Parts& parts) const {
  std::string bytes = read_bytes(path);
  parts.files[file_name(path)] = bytes;
  return bytes;
}

std::string TokenizerFolder::read_file(std::string_view file, Tokenizer::Parts& parts) const {
  return read(settings_.folder() + '/' + std::string(file), parts);
}

Tokenizer TokenizerFolder::finish(Tokenizer::Parts parts) const {
  parts.files.merge(settings_.files());
  return Tokenizer(std::make_shared<const Tokenizer::Parts>(std::move(parts)));
}

std::optional<int> TokenizerFolder::id_of(const Tokenizer::Parts& parts, const char* field,
                                          const char* role) const {
  const std::vector<int> ids = settings_.ids(field);
  if (!ids.empty()) return ids.front();
  const std::optional<AddedToken> token = settings_.named_token(role);
  return token ? parts.model->find(token->content) : std::nullopt;
}

void TokenizerFolder::set_tokens(Tokenizer::Parts& parts) const {
  SpecialTokens& tokens = parts.tokens;
  tokens.pad = id_of(parts, "pad_token_id", "pad_token").value_or(tokens.pad);
  tokens.unknown = id_of(parts, "unk_token_id", "unk_token").value_or(tokens.unknown);
  const std::optional<int> begin = id_of(parts, "bos_token_id", "bos_token");
  tokens.begin = begin ? *begin : id_of(parts, "cls_token_id", "cls_token").value_or(tokens.begin);
  const std::vector<int> ends = settings_.ids("eos_token_id");
  const std::optional<int> end = id_of(parts, "eos_token_id", "eos_token");
  const std::optional<int> separator = id_of(parts, "sep_token_id", "sep_token");
  if (!ends.empty()) {
    tokens.ends = ends;
  } else if (end || separator) {
    tokens.ends = {end ? *end : *separator};
  }
  // Families that do not say begin with padding; all others of that kind say.
  const std::vector<int> start = settings_.ids("decoder_start_token_id");
  tokens.decoder_start = !start.empty() ? start.front() : tokens.pad;
  set_mask(parts);
}

void TokenizerFolder::set_mask(Tokenizer::Parts& parts) const {
  parts.mask = id_of(parts, "mask_token_id", "mask_token");
  for (const char* usual : {"[MASK]", "<mask>"}) {
    if (!parts.mask) parts.mask = parts.model->find(usual);
  }
}

Tokenizer TokenizerFolder::load_marian() const {
  Tokenizer::Parts parts;
  MarianFiles files{read_file("source.spm", parts), read_file("target.spm", parts),
                    read_file("vocab.json", parts)};
  const bool is_separate = settings_.flag("separate_vocabs").value_or(false) ||
                           settings_.path_of("target_vocab.json").has_value();
  if (is_separate) files.target_vocabulary = read_file("target_vocab.json", parts);
  parts.model = std::make_unique<MarianTokenizer>(files, settings_.folder());
  const auto id = [&](const char* piece) {
    return parts.model->find(piece).value_or(SpecialTokens::none);
  };
  parts.tokens = {.pad = id("<pad>"),
                  .unknown = id("<unk>"),
                  .begin = SpecialTokens::none,
                  .ends = {id("</s>")},
                  .decoder_start = id("<pad>")};
  set_tokens(parts);
  parts.sequence.suffix = {parts.tokens.end()};
  return finish(std::move(parts));
}

void TokenizerFolder::set_json(Tokenizer::Parts& parts, std::string_view json,
                               const std::string& name) const {
  auto model = std::make_unique<JsonTokenizerModel>(JsonTokenizer::from_bytes(json, name));
  parts.sequence = model->tokenizer().sequence();
  parts.tokens = no_tokens();
  parts.tokens.unknown = model->tokenizer().unknown().value_or(SpecialTokens::none);
  if (!parts.sequence.prefix.empty()) parts.tokens.begin = parts.sequence.prefix.front();
  if (!parts.sequence.suffix.empty()) parts.tokens.ends = {parts.sequence.suffix.back()};
  set_usual(parts.tokens.pad, *model, {"[PAD]", "<pad>"});
  set_usual(parts.tokens.unknown, *model, {"[UNK]", "<unk>"});
  parts.model = std::move(model);
  set_tokens(parts);
  if (sets_own_template(settings_)) {
    set_ends(parts.sequence, parts.tokens, settings_.flag("add_bos_token").value_or(true),
             settings_.flag("add_eos_token").value_or(false));
  }
}

Tokenizer TokenizerFolder::load_json(const std::string& path) const {
  Tokenizer::Parts parts;
  const std::string bytes = read(path, parts);
  set_json(parts, bytes, path);
  return finish(std::move(parts));
}

Tokenizer TokenizerFolder::load_sentence_piece(const std::string& path) const {
  Tokenizer::Parts parts;
  const std::string bytes = read(path, parts);
  check_as(ErrorKind::model, bytes.size() <= max_sentence_piece_bytes, path, ": expected at most ",
           max_sentence_piece_bytes, " bytes, found ", bytes.size());
  auto model = std::make_unique<SentencePieceTokenizer>(bytes, path);
  const std::string name = file_name(path);
  const bool names_none =
      settings_.tokenizer_class().empty() &&
      (settings_.model_type().empty() || settings_.model_type().starts_with("heed-"));
  const bool is_t5 =
      names_none
          ? name == "spiece.model"
          : tokenizer_class_of(settings_, sentence_piece_classes, name).ends_with("T5Tokenizer");
  const SentencePiece& pieces = model->pieces();
  model->add_tokens(tokens_in_text(pieces, settings_, is_t5), path);
  parts.tokens = {.pad = pieces.pad(),
                  .unknown = pieces.unknown(),
                  .begin = pieces.begin(),
                  .ends = {},
                  .decoder_start = SpecialTokens::none};
  if (pieces.end() >= 0) parts.tokens.ends = {pieces.end()};
  parts.model = std::move(model);
  set_tokens(parts);
  set_ends(parts.sequence, parts.tokens, settings_.flag("add_bos_token").value_or(!is_t5),
           settings_.flag("add_eos_token").value_or(is_t5));
  return finish(std::move(parts));
}

Tokenizer TokenizerFolder::load_byte_bpe() const {
  Tokenizer::Parts parts;
  const std::string vocabulary = read_file("vocab.json", parts);
  const std::string json = json_of_byte_bpe(vocabulary, read_file("merges.txt", parts), settings_);
  set_json(parts, json, settings_.folder() + "/vocab.json");
  return finish(std::move(parts));
}

Tokenizer TokenizerFolder::load_word_pieces() const {
  Tokenizer::Parts parts;
  const std::string json = json_of_word_pieces(read_file("vocab.txt", parts), settings_);
  set_json(parts, json, settings_.folder() + "/vocab.txt");
  return finish(std::move(parts));
}

}  // namespace heed::text
