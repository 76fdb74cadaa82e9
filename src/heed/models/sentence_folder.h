// The files that sentence-transformers adds to a folder: how the vectors of tokens become one of a
// sentence.
#pragma once

#include <map>
#include <string>

#include "heed/models/transformer_config.h"

namespace heed::models {

bool has_sentence_files(const std::string& folder);  // modules.json

// Pooling, normalisation and the longest text; nothing in a folder without these files. Refuses
// (ErrorKind::model) modules and poolings that are not supported.
void read_sentence_files(const std::string& folder, TransformerConfig& config);
void write_sentence_files(const std::string& folder, const TransformerConfig& config);

// What stands before every text, for models that were trained so:
// config_sentence_transformers.json.
struct SentencePrompts {
  static constexpr const char* file_name = "config_sentence_transformers.json";

  std::map<std::string, std::string> by_name;
  std::string default_name;  // of the one that is used without being asked for; "": none
  std::string json;          // the file; empty where a folder has none
};
SentencePrompts load_sentence_prompts(const std::string& folder);

}  // namespace heed::models
