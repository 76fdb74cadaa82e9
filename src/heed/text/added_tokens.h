// The section `added_tokens` of a tokenizer.json: tokens that are found in a text before it is
// split into words.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heed/io/json_fields.h"
#include "heed/text/normalizers.h"
#include "heed/text/piece_trie.h"
#include "heed/text/text_pieces.h"
#include "heed/text/vocabulary.h"

namespace heed::text {

struct AddedToken {
  int id = 0;
  std::string content = {};
  bool is_single_word = false;  // not within a word
  bool strips_left = false;     // takes the spaces before it too
  bool strips_right = false;    // takes the spaces after it too
  bool is_normalized = false;   // looked for in the normalised text
  bool is_special = false;      // left out of a decoded text, if wanted
};

// All but the id.
AddedToken read_added_token(const io::JsonFields& fields);

class AddedTokens {
 public:
  AddedTokens() = default;
  // Reads the list. Refuses (ErrorKind::model) a token that occurs twice.
  AddedTokens(const io::JsonFields& fields, const Vocabulary& vocabulary,
              const Normalizer& normalizer);

  // A list whose ids count. Refuses (ErrorKind::model) what the other one refuses, and an id that
  // two tokens share; `place` begins the message.
  AddedTokens(std::vector<AddedToken> tokens, const std::string& place);

  // A text in pieces: the tokens, and what is between them, normalised.
  TextPieces split(std::string_view text, const Normalizer& normalizer) const;

  // Null for the id of no such token.
  const AddedToken* find(int id) const;
  std::optional<int> find(std::string_view content) const { return names_.find(content); }
  int num_ids() const { return names_.num_ids(); }  // the largest one + 1

 private:
  // A part of a text: a token, or what is between two of them.
  struct Part {
    ByteRange range;
    const AddedToken* token = nullptr;
  };

  void add(AddedToken token, const std::string& place);
  void build_tries(const Normalizer& normalizer);
  std::vector<Part> find_parts(std::string_view text, const PieceTrie& tokens) const;

  std::vector<AddedToken> tokens_;
  std::unordered_map<int, std::size_t> places_;  // in tokens_, by id
  Vocabulary names_;
  PieceTrie in_text_, in_normalized_text_;  // places in tokens_
};

}  // namespace heed::text
