#include "heed/text/folder_settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/printable.h"
#include "heed/io/files.h"
#include "heed/text/vocabulary.h"

namespace heed::text {
namespace {

using io::JsonFields;
using nlohmann::json;

constexpr io::IntegerRange id_or_none{.min = SpecialTokens::none, .max = Vocabulary::max_ids - 1};

constexpr std::array roles{"bos_token", "eos_token", "unk_token", "sep_token",
                           "pad_token", "cls_token", "mask_token"};
constexpr const char* additional = "additional_special_tokens";

// Files that say how a text is tokenized, or how a chat becomes a text.
constexpr std::array own_files{"tokenizer_config.json", "special_tokens_map.json",
                               "added_tokens.json", "chat_template.jinja"};

AddedToken special_token(std::string content) {
  return {.content = std::move(content), .is_special = true};
}

// "<mask>" or {"content": "<mask>", "lstrip": true}
std::optional<AddedToken> token_in(const JsonFields& fields, const std::string& role) {
  if (!fields.has(role)) return std::nullopt;
  if (fields.json().at(role).is_string()) return special_token(fields.text(role));
  AddedToken token = read_added_token(fields.object(role));
  token.is_special = true;
  return token;
}

void add_once(std::vector<AddedToken>& tokens, AddedToken token) {
  const bool is_there =
      std::ranges::find(tokens, token.content, &AddedToken::content) != tokens.end();
  if (!is_there && !token.content.empty()) tokens.push_back(std::move(token));
}

std::vector<AddedToken> additional_tokens(const JsonFields& fields) {
  std::vector<AddedToken> tokens;
  if (!fields.has(additional) || !fields.json().at(additional).is_array()) return tokens;
  for (const json& value : fields.json().at(additional)) {
    if (value.is_string()) tokens.push_back(special_token(value.get<std::string>()));
    if (value.is_object()) {
      tokens.push_back(read_added_token(JsonFields::of(value, fields.place(additional))));
    }
  }
  return tokens;
}

int parse_id(const std::string& text, const std::string& place) {
  int id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  check_as(ErrorKind::model,
           error == std::errc() && end == text.data() + text.size() && id >= 0 &&
               id < Vocabulary::max_ids,
           place, ": expected ids below ", Vocabulary::max_ids, ", found ", excerpt(text));
  return id;
}

}  // namespace

FolderSettings::FolderSettings(std::string folder)
    : folder_(std::move(folder)),
      config_(load("config.json")),
      generation_(load("generation_config.json")),
      tokenizer_(load("tokenizer_config.json")),
      names_(load("special_tokens_map.json")),
      added_(load("added_tokens.json")) {}

std::optional<std::string> FolderSettings::path_of(std::string_view file) const {
  const std::string path = folder_ + '/' + std::string(file);
  return io::is_there(path, ErrorKind::model) ? std::optional(path) : std::nullopt;
}

std::optional<JsonFields> FolderSettings::load(std::string_view file) const {
  const std::optional<std::string> path = path_of(file);
  return path ? std::optional(JsonFields::load(*path)) : std::nullopt;
}

std::string FolderSettings::model_type() const {
  return config_ ? config_->text_or("model_type", "") : "";
}

std::string FolderSettings::tokenizer_class() const {
  std::string name = tokenizer_ ? tokenizer_->text_or("tokenizer_class", "") : "";
  constexpr std::string_view fast = "Fast";
  if (name.ends_with(fast)) name.erase(name.size() - fast.size());
  return name;
}

std::optional<int> FolderSettings::vocabulary() const {
  if (!config_ || !config_->has("vocab_size")) return std::nullopt;
  return static_cast<int>(config_->integer("vocab_size", {.min = 1, .max = 1 << 24}));
}

std::optional<bool> FolderSettings::flag(const std::string& name) const {
  if (!tokenizer_ || !tokenizer_->has(name)) return std::nullopt;
  return tokenizer_->boolean(name);
}

std::optional<int> FolderSettings::number(const std::string& name, int max) const {
  if (!tokenizer_ || !tokenizer_->has(name)) return std::nullopt;
  return static_cast<int>(tokenizer_->integer(name, {.min = 0, .max = max}));
}

std::optional<AddedToken> FolderSettings::named_token(const std::string& role) const {
  for (const auto* file : {&tokenizer_, &names_}) {
    if (!*file) continue;
    if (std::optional<AddedToken> token = token_in(**file, role)) return token;
  }
  return std::nullopt;
}

std::vector<AddedToken> FolderSettings::named_tokens() const {
  std::vector<AddedToken> tokens;
  for (const char* role : roles) {
    if (std::optional<AddedToken> token = named_token(role)) add_once(tokens, *std::move(token));
  }
  for (const auto* file : {&tokenizer_, &names_}) {
    if (!*file) continue;
    for (AddedToken& token : additional_tokens(**file)) add_once(tokens, std::move(token));
  }
  return tokens;
}

std::vector<AddedToken> FolderSettings::added_tokens() const {
  constexpr const char* by_id = "added_tokens_decoder";
  std::vector<AddedToken> tokens;
  if (tokenizer_ && tokenizer_->has(by_id)) {
    const JsonFields entries = tokenizer_->object(by_id);
    for (const std::string& id : entries.names()) {
      AddedToken token = read_added_token(entries.object(id));
      token.id = parse_id(id, tokenizer_->place(by_id));
      add_once(tokens, std::move(token));
    }
  } else if (added_) {
    const std::vector<AddedToken> named = named_tokens();
    for (const std::string& content : added_->names()) {
      const auto match = std::ranges::find(named, content, &AddedToken::content);
      AddedToken token = match == named.end() ? AddedToken{.content = content} : *match;
      token.id =
          static_cast<int>(added_->integer(content, {.min = 0, .max = Vocabulary::max_ids - 1}));
      add_once(tokens, std::move(token));
    }
  }
  std::ranges::sort(tokens, {}, &AddedToken::id);
  return tokens;
}

// What is said about generation comes first, as in the library.
std::vector<int> FolderSettings::ids(const std::string& name) const {
  for (const auto* file : {&generation_, &config_}) {
    if (!*file || !(*file)->has(name)) continue;
    const bool is_list = (*file)->json().at(name).is_array();
    std::vector<std::int64_t> all;
    if (is_list) {
      all = (*file)->integers(name, id_or_none);
    } else {
      all.push_back((*file)->integer(name, id_or_none));
    }
    std::vector<int> ids;
    for (const std::int64_t id : all) {
      if (id != SpecialTokens::none) ids.push_back(static_cast<int>(id));
    }
    return ids;
  }
  return {};
}

TokenizerFiles FolderSettings::files() const {
  TokenizerFiles files;
  for (const char* name : own_files) {
    if (const auto path = path_of(name)) {
      files[name] = io::read_file(*path, ErrorKind::model, io::max_config_bytes);
    }
  }
  return files;
}

}  // namespace heed::text
