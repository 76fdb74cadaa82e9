#include "heed/models/gguf_vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "heed/base/error.h"
#include "heed/io/gguf_writer.h"
#include "heed/io/json_fields.h"
#include "heed/text/byte_alphabet.h"
#include "heed/text/message_reader.h"

namespace heed::models {
namespace {

// Types of tokens: the numbers of SentencePiece.
constexpr std::int32_t normal_type = 1, unknown_type = 2, control_type = 3, user_type = 4,
                       unused_type = 5, byte_type = 6;

// Of a piece <0x00> to <0xFF>.
std::optional<unsigned char> byte_of_piece(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || !piece.ends_with('>')) return std::nullopt;
  unsigned char byte = 0;
  const std::string_view digits = piece.substr(3, 2);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + 2, byte, 16);
  if (error != std::errc() || end != digits.data() + 2) return std::nullopt;
  return byte;
}

// ---- SentencePiece

struct SentencePieceSettings {
  std::uint64_t model_type = 1;
  bool has_byte_fallback = false;
  bool has_space_before = true;
};

SentencePieceSettings read_settings(std::string_view model) {
  constexpr std::uint64_t trainer = 2, normalizer = 3;
  constexpr std::uint64_t model_type = 3, byte_fallback = 35, add_dummy_prefix = 3;
  SentencePieceSettings settings;
  for (text::MessageReader part(model); part.next();) {
    if (part.field != trainer && part.field != normalizer) continue;
    const bool is_trainer = part.field == trainer;
    for (text::MessageReader field(part.content); field.next();) {
      if (is_trainer && field.field == model_type) settings.model_type = field.number;
      if (is_trainer && field.field == byte_fallback) settings.has_byte_fallback = field.number;
      if (!is_trainer && field.field == add_dummy_prefix) settings.has_space_before = field.number;
    }
  }
  return settings;
}

float float_of(std::string_view bytes) {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < bytes.size() && i < 4; ++i) {
    bits |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return std::bit_cast<float>(bits);
}

void add_piece(GgufVocabulary& vocabulary, std::string_view message) {
  constexpr std::uint64_t piece = 1, score = 2, type = 3;
  vocabulary.tokens.emplace_back();
  vocabulary.scores.push_back(0);
  vocabulary.types.push_back(normal_type);
  for (text::MessageReader field(message); field.next();) {
    if (field.field == piece) vocabulary.tokens.back() = field.content;
    if (field.field == score) vocabulary.scores.back() = float_of(field.content);
    if (field.field == type) {
      vocabulary.types.back() = static_cast<std::int32_t>(field.number & 0xff);
    }
  }
}

// Pieces <0x00> to <0xFF> alone are byte-level BPE without merges: its tokens are the characters
// that stand for the bytes. As SentencePiece's they would lose spaces.
void make_byte_level(GgufVocabulary& vocabulary) {
  vocabulary.model = "gpt2";
  vocabulary.pre_tokenizer = "gpt-2";
  vocabulary.scores.clear();
  for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    if (vocabulary.types[id] != byte_type) continue;
    const auto byte = byte_of_piece(vocabulary.tokens[id]);
    if (!byte) continue;
    vocabulary.tokens[id] = text::character_of_byte(*byte);
    vocabulary.types[id] = normal_type;
  }
}

// ---- tokenizer.json

// The expressions that llama.cpp knows by name, of pre-tokenizers before the byte level.
struct NamedExpression {
  std::string_view name, expression;
};
constexpr NamedExpression named_expressions[] = {
    {"llama-bpe",
     R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    {"qwen2",
     R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
};

// One part of a pipeline, or all parts of a sequence of them.
std::vector<io::JsonFields> parts_of(const io::JsonFields& file, const std::string& section,
                                     const std::string& list) {
  if (!file.has(section)) return {};
  const io::JsonFields part = file.object(section);
  if (part.text("type") == "Sequence") return part.optional_objects(list);
  return {part};
}

std::vector<io::JsonFields> pre_tokenizers(const io::JsonFields& file) {
  return parts_of(file, "pre_tokenizer", "pretokenizers");
}

bool is_byte_level(const io::JsonFields& file) {
  return std::ranges::any_of(pre_tokenizers(file), [](const io::JsonFields& part) {
    return part.text("type") == "ByteLevel";
  });
}

std::string expression_of(const io::JsonFields& split) {
  return split.has("pattern") ? split.object("pattern").text_or("Regex", "") : "";
}

std::string pre_tokenizer_name(const io::JsonFields& file) {
  const std::vector<io::JsonFields> parts = pre_tokenizers(file);
  const auto refuse_unless = [&](bool ok, std::string_view what) {
    check_as(ErrorKind::model, ok, file.place("pre_tokenizer"),
             ": expected one that GGUF has a name for, those of GPT-2, Llama 3 and Qwen, found ",
             what);
  };
  refuse_unless(!parts.back().boolean_or("add_prefix_space", true), "a prefix of a space");
  if (parts.size() == 1) {
    refuse_unless(parts.front().boolean_or("use_regex", true), "no expression");
    return "gpt-2";
  }
  refuse_unless(parts.size() == 2 && parts.front().text("type") == "Split", "another sequence");
  const std::string expression = expression_of(parts.front());
  for (const NamedExpression& named : named_expressions) {
    if (expression == named.expression) return std::string(named.name);
  }
  refuse_unless(false, "another expression");
  return {};
}

// "a b", from that or from ["a", "b"].
std::vector<std::string> read_merges(const io::JsonFields& model) {
  std::vector<std::string> merges;
  if (!model.has("merges")) return merges;
  for (const nlohmann::json& merge : model.json().at("merges")) {
    const bool is_pair =
        merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string();
    check_as(ErrorKind::model, is_pair || merge.is_string(), model.place("merges"),
             ": expected pairs of pieces");
    merges.push_back(is_pair ? merge[0].get<std::string>() + ' ' + merge[1].get<std::string>()
                             : merge.get<std::string>());
  }
  return merges;
}

void set_token(GgufVocabulary& vocabulary, std::int64_t id, std::string token, std::int32_t type) {
  constexpr std::int64_t max_tokens = 1 << 24;
  check_as(ErrorKind::model, id >= 0 && id < max_tokens,
           "tokenizer.json: expected ids of tokens below ", max_tokens, ", found ", id);
  const auto size = static_cast<std::size_t>(id) + 1;
  if (vocabulary.tokens.size() < size) {
    vocabulary.tokens.resize(size);
    vocabulary.types.resize(size, unused_type);
    vocabulary.scores.resize(size, 0);
  }
  vocabulary.tokens[size - 1] = std::move(token);
  vocabulary.types[size - 1] = type;
}

void read_bpe_tokens(GgufVocabulary& vocabulary, const io::JsonFields& model) {
  const io::JsonFields pieces = model.object("vocab");
  const bool has_bytes = model.boolean_or("byte_fallback", false);
  for (const std::string& piece : pieces.names()) {
    const bool is_byte = has_bytes && byte_of_piece(piece);
    set_token(vocabulary, pieces.json().at(piece).get<std::int64_t>(), piece,
              is_byte ? byte_type : normal_type);
  }
}

// SentencePiece's BPE has scores in place of ranks: the first merge that makes a piece.
void score_by_rank(GgufVocabulary& vocabulary, const std::vector<std::string>& merges) {
  std::map<std::string, float, std::less<>> scores;
  for (std::size_t rank = 0; rank < merges.size(); ++rank) {
    std::string piece = merges[rank];
    const std::size_t space = piece.find(' ');
    if (space != piece.npos) piece.erase(space, 1);
    scores.emplace(std::move(piece), -static_cast<float>(rank));
  }
  for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    const auto score = scores.find(vocabulary.tokens[id]);
    if (score != scores.end()) vocabulary.scores[id] = score->second;
  }
}

void read_bpe(GgufVocabulary& vocabulary, const io::JsonFields& file, const io::JsonFields& model) {
  read_bpe_tokens(vocabulary, model);
  std::vector<std::string> merges = read_merges(model);
  if (is_byte_level(file)) {
    vocabulary.model = "gpt2";
    vocabulary.pre_tokenizer = pre_tokenizer_name(file);
    vocabulary.merges = std::move(merges);
    return;
  }
  check_as(ErrorKind::model, model.boolean_or("byte_fallback", false), file.place("model"),
           ": expected BPE of bytes, or one that falls back to bytes, found another");
  vocabulary.model = "llama";
  score_by_rank(vocabulary, merges);
}

void read_unigrams(GgufVocabulary& vocabulary, const io::JsonFields& model) {
  vocabulary.model = "t5";
  const auto unknown = model.optional_integer("unk_id");
  std::int64_t id = 0;
  for (const nlohmann::json& piece : model.json().at("vocab")) {
    check_as(ErrorKind::model,
             piece.is_array() && piece.size() == 2 && piece[0].is_string() && piece[1].is_number(),
             model.place("vocab"), ": expected pairs of a piece and its score");
    const auto token = piece[0].get<std::string>();
    const bool is_byte =
        byte_of_piece(token).has_value() && model.boolean_or("byte_fallback", false);
    set_token(vocabulary, id, token,
              unknown == id ? unknown_type
              : is_byte     ? byte_type
                            : normal_type);
    vocabulary.scores.back() = piece[1].get<float>();
    ++id;
  }
}

void read_added_tokens(GgufVocabulary& vocabulary, const io::JsonFields& file) {
  for (const io::JsonFields& token : file.optional_objects("added_tokens")) {
    const bool is_special = token.boolean_or("special", false);
    set_token(vocabulary, token.integer("id"), token.text("content"),
              is_special ? control_type : user_type);
  }
}

// A normalizer that prepends "▁", or a Metaspace that does.
bool prepends_space(const io::JsonFields& file) {
  const auto is_prepend = [](const io::JsonFields& part) { return part.text("type") == "Prepend"; };
  const auto is_metaspace = [](const io::JsonFields& part) {
    return part.text("type") == "Metaspace" &&
           part.text_or("prepend_scheme", "always") != "never" &&
           part.boolean_or("add_prefix_space", true);
  };
  return std::ranges::any_of(parts_of(file, "normalizer", "normalizers"), is_prepend) ||
         std::ranges::any_of(pre_tokenizers(file), is_metaspace);
}

bool is_unigram(const io::JsonFields& model) {
  return model.text_or("type", model.json().value("vocab", nlohmann::json()).is_array()
                                   ? "Unigram"
                                   : "BPE") == "Unigram";
}

void add_missing_bytes(GgufVocabulary& vocabulary) {
  constexpr int num_bytes = 256;
  const std::set<std::string, std::less<>> there(vocabulary.tokens.begin(),
                                                 vocabulary.tokens.end());
  for (int byte = 0; byte < num_bytes; ++byte) {
    std::string piece = fmt::format("<0x{:02X}>", byte);
    if (there.contains(piece)) continue;
    vocabulary.tokens.push_back(std::move(piece));
    vocabulary.types.push_back(byte_type);
  }
}

}  // namespace

GgufVocabulary gguf_vocabulary(std::string_view sentencepiece, const std::string& name) {
  constexpr std::uint64_t pieces = 1;
  constexpr std::uint64_t bpe = 2, word = 3, character = 4;
  const SentencePieceSettings settings = read_settings(sentencepiece);
  check_as(ErrorKind::model, settings.model_type != word, name,
           ": subwords: GGUF has no form for words; it has one for bpe, unigram, char and byte");
  GgufVocabulary vocabulary;
  vocabulary.has_space_before = settings.has_space_before;
  for (text::MessageReader part(sentencepiece); part.find(pieces);) {
    add_piece(vocabulary, part.content);
  }
  if (settings.model_type == character && settings.has_byte_fallback) {
    make_byte_level(vocabulary);
  } else {
    vocabulary.model = settings.model_type == bpe ? "llama" : "t5";
  }
  return vocabulary;
}

GgufVocabulary gguf_vocabulary_of_json(std::string_view json, const std::string& name) {
  const auto file = io::JsonFields::parse(json, name);
  const io::JsonFields model = file.object("model");
  GgufVocabulary vocabulary;
  vocabulary.has_space_before = prepends_space(file);
  if (is_unigram(model)) {
    read_unigrams(vocabulary, model);
  } else {
    check_as(ErrorKind::model, model.text_or("type", "BPE") == "BPE", file.place("model.type"),
             ": GGUF has no form for ", model.text_or("type", ""));
    read_bpe(vocabulary, file, model);
  }
  read_added_tokens(vocabulary, file);
  if (vocabulary.model == "gpt2") vocabulary.scores.clear();
  return vocabulary;
}

std::int64_t complete_vocabulary(GgufVocabulary& vocabulary, std::int64_t num_tokens) {
  const auto size = static_cast<std::size_t>(num_tokens);
  check_as(ErrorKind::model, vocabulary.tokens.size() <= size, "tokenizer: expected at most the ",
           size, " tokens of the model, found ", vocabulary.tokens.size());
  vocabulary.tokens.resize(size);
  vocabulary.types.resize(size, unused_type);
  for (std::size_t id = 0; id < size; ++id) {
    if (vocabulary.tokens[id].empty()) vocabulary.tokens[id] = fmt::format("[UNUSED{}]", id);
  }
  if (vocabulary.model == "llama") add_missing_bytes(vocabulary);
  if (vocabulary.model != "gpt2") vocabulary.scores.resize(vocabulary.tokens.size(), 0);
  return std::ssize(vocabulary.tokens) - num_tokens;
}

void write_vocabulary(io::GgufWriter& file, const GgufVocabulary& vocabulary,
                      const text::SpecialTokens& special) {
  file.text("tokenizer.ggml.model", vocabulary.model);
  file.text("tokenizer.ggml.pre", vocabulary.pre_tokenizer);
  file.texts("tokenizer.ggml.tokens", vocabulary.tokens);
  if (vocabulary.model != "gpt2") file.reals("tokenizer.ggml.scores", vocabulary.scores);
  file.integers("tokenizer.ggml.token_type", vocabulary.types);
  if (vocabulary.model == "gpt2") file.texts("tokenizer.ggml.merges", vocabulary.merges);
  const auto write_id = [&](const char* key, int id) {
    if (id != text::SpecialTokens::none) file.number(key, static_cast<std::uint32_t>(id));
  };
  write_id("tokenizer.ggml.bos_token_id", special.begin);
  write_id("tokenizer.ggml.eos_token_id", special.end());
  write_id("tokenizer.ggml.unknown_token_id", special.unknown);
  write_id("tokenizer.ggml.padding_token_id", special.pad);
  file.flag("tokenizer.ggml.add_bos_token", vocabulary.begins_with_begin);
  file.flag("tokenizer.ggml.add_eos_token", false);
  file.flag("tokenizer.ggml.add_space_prefix", vocabulary.has_space_before);
  if (vocabulary.model == "t5") file.flag("tokenizer.ggml.remove_extra_whitespaces", false);
}

}  // namespace heed::models
