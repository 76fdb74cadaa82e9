#include "heed/text/vocabulary_files.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/printable.h"
#include "heed/text/vocabulary.h"

namespace heed::text {
namespace {

using nlohmann::json;

constexpr std::array word_piece_classes{
    ClassOfType{"bert", "BertTokenizer"},       ClassOfType{"distilbert", "DistilBertTokenizer"},
    ClassOfType{"electra", "ElectraTokenizer"}, ClassOfType{"mobilebert", "MobileBertTokenizer"},
    ClassOfType{"mpnet", "MPNetTokenizer"},
};

constexpr std::array byte_bpe_classes{
    ClassOfType{"gpt2", "GPT2Tokenizer"},
    ClassOfType{"opt", "GPT2Tokenizer"},
    ClassOfType{"gpt_neo", "GPT2Tokenizer"},
    ClassOfType{"gptj", "GPT2Tokenizer"},
    ClassOfType{"phi", "CodeGenTokenizer"},
    ClassOfType{"codegen", "CodeGenTokenizer"},
    ClassOfType{"roberta", "RobertaTokenizer"},
    ClassOfType{"bart", "BartTokenizer"},
    ClassOfType{"longformer", "LongformerTokenizer"},
};

// What a token is called where the folder does not say.
struct DefaultToken {
  std::string_view role;
  std::string_view content;
};
constexpr std::array bert_tokens{
    DefaultToken{"pad_token", "[PAD]"}, DefaultToken{"unk_token", "[UNK]"},
    DefaultToken{"cls_token", "[CLS]"}, DefaultToken{"sep_token", "[SEP]"},
    DefaultToken{"mask_token", "[MASK]"}};
constexpr std::array mpnet_tokens{
    DefaultToken{"pad_token", "<pad>"}, DefaultToken{"unk_token", "[UNK]"},
    DefaultToken{"cls_token", "<s>"}, DefaultToken{"sep_token", "</s>"},
    DefaultToken{"mask_token", "<mask>"}};
constexpr std::array roberta_tokens{
    DefaultToken{"pad_token", "<pad>"}, DefaultToken{"unk_token", "<unk>"},
    DefaultToken{"cls_token", "<s>"}, DefaultToken{"sep_token", "</s>"},
    DefaultToken{"mask_token", "<mask>"}};
constexpr std::array gpt2_tokens{DefaultToken{"bos_token", "<|endoftext|>"},
                                 DefaultToken{"eos_token", "<|endoftext|>"}};

// Pieces with their ids, and what the special ones are called.
struct Names {
  const json& vocabulary;
  const FolderSettings& settings;
  std::span<const DefaultToken> defaults;

  AddedToken token(std::string_view role) const {
    if (auto named = settings.named_token(std::string(role))) return *std::move(named);
    const auto entry = std::ranges::find(defaults, role, &DefaultToken::role);
    AddedToken token{.is_special = true};
    if (entry != defaults.end()) token.content = entry->content;
    // A mask takes the space before it: the word that it stands for includes that.
    token.strips_left = token.content == "<mask>";
    return token;
  }

  // The id of a token that the template needs.
  int id(std::string_view role) const {
    const std::string content = token(role).content;
    check_as(ErrorKind::model, vocabulary.contains(content), settings.folder(), ": expected the ",
             role, " ", excerpt(content), " in the vocabulary, found none");
    const json& id = vocabulary.at(content);
    const bool is_id = id.is_number_unsigned() && id.get<std::uint64_t>() < Vocabulary::max_ids;
    check_as(ErrorKind::model, is_id, settings.folder(), ": expected ids from 0 to ",
             Vocabulary::max_ids - 1, ", found another value for \"", excerpt(content), '"');
    return id.get<int>();
  }
};

json to_json(const AddedToken& token) {
  return {{"content", token.content},          {"single_word", token.is_single_word},
          {"lstrip", token.strips_left},       {"rstrip", token.strips_right},
          {"normalized", token.is_normalized}, {"special", token.is_special}};
}

// Those with ids of their own first, in that order, then what else has a name.
json added_tokens(const Names& names) {
  std::vector<AddedToken> tokens = names.settings.added_tokens();
  const auto add = [&](AddedToken token) {
    const auto is_same = [&](const AddedToken& other) { return other.content == token.content; };
    if (!token.content.empty() && std::ranges::none_of(tokens, is_same)) {
      tokens.push_back(std::move(token));
    }
  };
  for (const DefaultToken& entry : names.defaults) {
    AddedToken token = names.token(entry.role);
    if (names.vocabulary.contains(token.content)) add(std::move(token));
  }
  for (const AddedToken& token : names.settings.named_tokens()) add(token);
  json list = json::array();
  for (const AddedToken& token : tokens) list.push_back(to_json(token));
  return list;
}

// --- WordPiece

// Without the ends of the lines. Refuses more lines than there may be ids.
std::vector<std::string_view> lines_of(std::string_view text, const std::string& path) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    check_as(ErrorKind::model, lines.size() < Vocabulary::max_ids, path, ": expected at most ",
             Vocabulary::max_ids, " lines, found more");
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
  }
  return lines;
}

json pieces_of_lines(std::string_view text, const std::string& path) {
  json vocabulary = json::object();
  unsigned id = 0;
  for (const std::string_view line : lines_of(text, path)) vocabulary[std::string(line)] = id++;
  return vocabulary;
}

json sequence_part(const char* text, int type) {
  return {{"Sequence", {{"id", text}, {"type_id", type}}}};
}

// [CLS] a [SEP] b [SEP]; MPNet has two of them between the texts.
json word_piece_template(const Names& names, bool has_two_between) {
  const std::string cls = names.token("cls_token").content, sep = names.token("sep_token").content;
  const auto special = [](const std::string& name, int type) -> json {
    return {{"SpecialToken", {{"id", name}, {"type_id", type}}}};
  };
  const json first = sequence_part("A", 0), second = sequence_part("B", 1);
  json pair{special(cls, 0), first, special(sep, 0)};
  const json single = pair;
  if (has_two_between) pair.push_back(special(sep, 0));
  pair.push_back(second);
  pair.push_back(special(sep, 1));
  json tokens = json::object();
  for (const char* role : {"cls_token", "sep_token"}) {
    const std::string content = names.token(role).content;
    tokens[content] = {{"id", content},
                       {"ids", json::array({names.id(role)})},
                       {"tokens", json::array({content})}};
  }
  return {{"type", "TemplateProcessing"},
          {"single", single},
          {"pair", pair},
          {"special_tokens", tokens}};
}

// --- Byte-level BPE

json merges_of_lines(std::string_view text, const std::string& path) {
  json merges = json::array();
  for (const std::string_view line : lines_of(text, path)) {
    if (!line.empty() && !line.starts_with("#version")) merges.push_back(std::string(line));
  }
  return merges;
}

json begin_template(const Names& names) {
  const std::string begin = names.token("bos_token").content;
  const json special{{"SpecialToken", {{"id", begin}, {"type_id", 0}}}};
  return {{"type", "TemplateProcessing"},
          {"single", {special, sequence_part("A", 0)}},
          {"pair", {special, sequence_part("A", 0), special, sequence_part("B", 0)}},
          {"special_tokens",
           {{begin,
             {{"id", begin},
              {"ids", json::array({names.id("bos_token")})},
              {"tokens", json::array({begin})}}}}}};
}

json byte_bpe_post_processor(const Names& names, bool is_roberta, bool adds_space) {
  if (is_roberta) {
    return {{"type", "RobertaProcessing"},
            {"sep", {names.token("sep_token").content, names.id("sep_token")}},
            {"cls", {names.token("cls_token").content, names.id("cls_token")}},
            {"trim_offsets", true},
            {"add_prefix_space", adds_space}};
  }
  const bool adds_begin =
      names.settings.flag("add_bos_token").value_or(names.settings.model_type() == "opt");
  if (adds_begin) return begin_template(names);
  return {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", false}};
}

}  // namespace

std::string_view tokenizer_class_of(const FolderSettings& settings,
                                    std::span<const ClassOfType> table, std::string_view file) {
  const std::string by_class = settings.tokenizer_class(), by_type = settings.model_type();
  const bool is_ours = by_type.empty() || by_type.starts_with("heed-");
  if (by_class.empty() && is_ours) return table.front().tokenizer_class;
  std::string names;
  for (const ClassOfType& row : table) {
    if (by_class.empty() ? row.model_type == by_type : row.tokenizer_class == by_class) {
      return row.tokenizer_class;
    }
    if (names.find(row.tokenizer_class) == names.npos) {
      names.append(names.empty() ? "" : ", ").append(row.tokenizer_class);
    }
  }
  fail(ErrorKind::model, settings.folder(), ": expected a tokenizer of one of ", names, " for ",
       file, ", found ", excerpt(by_class.empty() ? "the model " + by_type : by_class));
}

std::string json_of_word_pieces(std::string_view lines, const FolderSettings& settings) {
  const json vocabulary = pieces_of_lines(lines, settings.folder() + "/vocab.txt");
  const std::string_view its_class = tokenizer_class_of(settings, word_piece_classes, "vocab.txt");
  // A folder that names no class may still have MPNet's pieces.
  const bool is_mpnet = its_class == "MPNetTokenizer" || !vocabulary.contains("[CLS]");
  const Names names{vocabulary, settings,
                    is_mpnet ? std::span<const DefaultToken>(mpnet_tokens) : bert_tokens};
  json normalizer{{"type", "BertNormalizer"},
                  {"clean_text", true},
                  {"handle_chinese_chars", settings.flag("tokenize_chinese_chars").value_or(true)},
                  {"strip_accents", nullptr},
                  {"lowercase", settings.flag("do_lower_case").value_or(true)}};
  if (const auto strips = settings.flag("strip_accents")) normalizer["strip_accents"] = *strips;
  const json file{{"added_tokens", added_tokens(names)},
                  {"normalizer", normalizer},
                  {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
                  {"post_processor", word_piece_template(names, is_mpnet)},
                  {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}},
                  {"model",
                   {{"type", "WordPiece"},
                    {"unk_token", names.token("unk_token").content},
                    {"continuing_subword_prefix", "##"},
                    {"max_input_chars_per_word", 100},
                    {"vocab", vocabulary}}}};
  return file.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string json_of_byte_bpe(std::string_view vocabulary_file, std::string_view merges,
                             const FolderSettings& settings) {
  const json vocabulary =
      io::JsonFields::parse(vocabulary_file, settings.folder() + "/vocab.json").json();
  const std::string_view its_class =
      tokenizer_class_of(settings, byte_bpe_classes, "vocab.json and merges.txt");
  const bool names_none = settings.tokenizer_class().empty() && settings.model_type().empty();
  const bool is_roberta = its_class == "RobertaTokenizer" || its_class == "BartTokenizer" ||
                          its_class == "LongformerTokenizer" ||
                          (names_none && settings.named_token("cls_token").has_value());
  const Names names{vocabulary, settings,
                    is_roberta ? std::span<const DefaultToken>(roberta_tokens) : gpt2_tokens};
  const bool adds_space = settings.flag("add_prefix_space").value_or(false);
  const json file{{"added_tokens", added_tokens(names)},
                  {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", adds_space}}},
                  {"post_processor", byte_bpe_post_processor(names, is_roberta, adds_space)},
                  {"decoder", {{"type", "ByteLevel"}}},
                  {"model",
                   {{"type", "BPE"},
                    {"vocab", vocabulary},
                    {"merges", merges_of_lines(merges, settings.folder() + "/merges.txt")}}}};
  return file.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace heed::text
