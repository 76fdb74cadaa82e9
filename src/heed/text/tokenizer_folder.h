// Makes the Tokenizer of a model folder from the files that are there.
#pragma once

#include <string>

#include "heed/text/folder_settings.h"
#include "heed/text/tokenizer.h"

namespace heed::text {

class TokenizerFolder {
 public:
  explicit TokenizerFolder(const std::string& folder) : settings_(folder) {}

  Tokenizer load() const;
  static bool has_any(const std::string& folder);    // of the files that load() looks for
  static std::span<const char* const> file_names();  // those, and what belongs to them
  // The folder's settings with a tokenizer.json or a SentencePiece model of another name.
  Tokenizer load_json(const std::string& path) const;
  Tokenizer load_sentence_piece(const std::string& path) const;

 private:
  bool must_be_own() const;
  Tokenizer load_marian() const;
  Tokenizer load_byte_bpe() const;
  Tokenizer load_word_pieces() const;

  // The bytes of a file, which `parts` keeps.
  std::string read(const std::string& path, Tokenizer::Parts& parts) const;
  std::string read_file(std::string_view file, Tokenizer::Parts& parts) const;
  void set_json(Tokenizer::Parts& parts, std::string_view json, const std::string& name) const;
  // The ids of the special tokens; those that the settings do not name stay as they are.
  void set_tokens(Tokenizer::Parts& parts) const;
  void set_mask(Tokenizer::Parts& parts) const;
  std::optional<int> id_of(const Tokenizer::Parts& parts, const char* field,
                           const char* role) const;
  Tokenizer finish(Tokenizer::Parts parts) const;

  FolderSettings settings_;
};

}  // namespace heed::text
