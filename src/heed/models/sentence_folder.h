// The files that sentence-transformers adds to a folder: how the vectors of tokens become one of a
// sentence.
#pragma once

#include <string>

#include "heed/models/transformer_config.h"

namespace heed::models {

bool has_sentence_files(const std::string& folder);  // modules.json

// Pooling, normalisation and the longest text; nothing in a folder without these files. Refuses
// (ErrorKind::model) modules and poolings that are not supported.
void read_sentence_files(const std::string& folder, TransformerConfig& config);
void write_sentence_files(const std::string& folder, const TransformerConfig& config);

}  // namespace heed::models
