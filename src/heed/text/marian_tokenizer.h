// The tokenizer of a Marian folder: SentencePiece models of the source and of the target give
// pieces, and vocabularies give them ids.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/text/sentence_piece.h"
#include "heed/text/tokenizer_model.h"
#include "heed/text/vocabulary.h"

namespace heed::text {

struct MarianFiles {
  std::string source_model;                                     // source.spm
  std::string target_model;                                     // target.spm
  std::string vocabulary;                                       // vocab.json
  std::optional<std::string> target_vocabulary = std::nullopt;  // target_vocab.json: of its own
};

class MarianTokenizer : public TokenizerModel {
 public:
  // `folder` begins messages.
  MarianTokenizer(const MarianFiles& files, const std::string& folder);

  // Of the target, which pieces and texts are of, too.
  int size() const override { return target_ids_.num_ids(); }
  Subwords subwords() const override { return source_.subwords(); }
  bool has_space_before() const override { return true; }

  // A language code in front, >>fr<<, is one token.
  std::vector<int> encode(std::string_view text) const override;
  std::vector<int> encode_target(std::string_view text) const override;
  std::string decode(std::span<const int> ids) const override;
  std::optional<int> find(std::string_view token) const override { return target_ids_.find(token); }
  std::string token(int id) const override;
  std::string piece(int id) const override { return token(id); }
  std::string surface(int id) const override { return with_spaces(token(id)); }
  std::optional<char> byte(int /*id*/) const override { return std::nullopt; }
  bool is_special(int id) const override;

 private:
  SentencePiece source_, target_;
  Vocabulary source_ids_, target_ids_;
};

}  // namespace heed::text
