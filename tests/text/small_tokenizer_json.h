// A small tokenizer.json for tests, of which a test replaces what it is about.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "heed/text/json_tokenizer.h"

namespace heed::text {

using Json = nlohmann::json;

// A vocabulary with ids in this order.
inline Json vocabulary(const std::vector<std::string>& pieces) {
  Json ids = Json::object();
  for (std::size_t id = 0; id < pieces.size(); ++id) ids[pieces[id]] = id;
  return ids;
}

inline Json word_level(const std::vector<std::string>& words) {
  return {{"type", "WordLevel"}, {"vocab", vocabulary(words)}, {"unk_token", "[UNK]"}};
}

inline Json bpe(const std::vector<std::string>& pieces, const std::vector<std::string>& merges) {
  return {{"type", "BPE"}, {"vocab", vocabulary(pieces)}, {"merges", merges}};
}

inline Json added_token(const std::string& content, const Json& changes = Json::object()) {
  Json token{{"id", 0},         {"content", content},  {"single_word", false}, {"lstrip", false},
             {"rstrip", false}, {"normalized", false}, {"special", false}};
  token.update(changes);
  return token;
}

inline Json tokenizer_json(const Json& model, const Json& sections = Json::object()) {
  Json file{{"version", "1.0"},
            {"truncation", nullptr},
            {"padding", nullptr},
            {"added_tokens", Json::array()},
            {"normalizer", nullptr},
            {"pre_tokenizer", nullptr},
            {"post_processor", nullptr},
            {"decoder", nullptr},
            {"model", model}};
  file.update(sections);
  return file;
}

inline JsonTokenizer small_tokenizer(const Json& model, const Json& sections = Json::object()) {
  return JsonTokenizer::from_bytes(tokenizer_json(model, sections).dump());
}

}  // namespace heed::text
