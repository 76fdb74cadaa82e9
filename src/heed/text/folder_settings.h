// The settings of a model folder, as far as its tokenizer needs them: config.json,
// generation_config.json, tokenizer_config.json, special_tokens_map.json and added_tokens.json.
// Each may be missing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/json_fields.h"
#include "heed/text/added_tokens.h"
#include "heed/text/tokenizer.h"

namespace heed::text {

class FolderSettings {
 public:
  explicit FolderSettings(std::string folder);

  const std::string& folder() const { return folder_; }
  // The path of a file; nothing when it is not there.
  std::optional<std::string> path_of(std::string_view file) const;

  std::string model_type() const;         // of config.json; "" when it says nothing
  std::string tokenizer_class() const;    // without "Fast" at its end; likewise
  std::optional<int> vocabulary() const;  // rows of the model
  // Of tokenizer_config.json.
  std::optional<bool> flag(const std::string& name) const;
  std::optional<int> number(const std::string& name, int max) const;

  // "unk_token": what the token is called, with how it is found in a text; its id is not known.
  std::optional<AddedToken> named_token(const std::string& role) const;
  // Of all roles, and the additional ones; each content once.
  std::vector<AddedToken> named_tokens() const;
  // With their ids, the lowest first.
  std::vector<AddedToken> added_tokens() const;
  // "eos_token_id": one id or several; -1 and null are none.
  std::vector<int> ids(const std::string& name) const;

  // The bytes of those files that belong to the tokenizer.
  TokenizerFiles files() const;

 private:
  std::optional<io::JsonFields> load(std::string_view file) const;

  std::string folder_;
  std::optional<io::JsonFields> config_, generation_, tokenizer_, names_, added_;
};

}  // namespace heed::text
