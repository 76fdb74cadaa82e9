// Tokenizers whose folder has no tokenizer.json but a list of pieces: the tokenizer.json that does
// the same.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "heed/text/folder_settings.h"

namespace heed::text {

// vocab.txt, one piece on each line: WordPiece, as BERT and its relatives have it. Both functions
// refuse (ErrorKind::model) tokenizers of other classes, by name.
std::string json_of_word_pieces(std::string_view vocabulary, const FolderSettings& settings);

// vocab.json, pieces and their ids, and merges.txt: byte-level BPE, as GPT-2 and RoBERTa have it.
std::string json_of_byte_bpe(std::string_view vocabulary, std::string_view merges,
                             const FolderSettings& settings);

// The tokenizer class of the folder, or that of its model type in a table of {type, class}.
// Refuses (ErrorKind::model) one that is not in the table: "DIR: expected a tokenizer of one of
// ... for vocab.txt, found ...". Where the folder names neither, the first class of the table.
struct ClassOfType {
  std::string_view model_type;
  std::string_view tokenizer_class;
};
std::string_view tokenizer_class_of(const FolderSettings& settings,
                                    std::span<const ClassOfType> table, std::string_view file);

}  // namespace heed::text
