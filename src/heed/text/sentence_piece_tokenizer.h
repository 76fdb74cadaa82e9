// A SentencePiece model and the tokens that its folder adds to it. Ids are those of the model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/text/added_tokens.h"
#include "heed/text/sentence_piece.h"
#include "heed/text/tokenizer_model.h"

namespace heed::text {

class SentencePieceTokenizer : public TokenizerModel {
 public:
  explicit SentencePieceTokenizer(std::string_view bytes, const std::string& name)
      : pieces_(bytes, name) {}

  const SentencePiece& pieces() const { return pieces_; }
  // Tokens that are found in a text before it is segmented. To be called once, before all others.
  // A token that the model has keeps its id there.
  void add_tokens(const std::vector<AddedToken>& tokens, const std::string& place);

  int size() const override;
  Subwords subwords() const override { return pieces_.subwords(); }
  bool has_space_before() const override { return pieces_.has_space_before(); }
  std::vector<int> encode(std::string_view text) const override;
  std::string decode(std::span<const int> ids) const override;
  std::optional<int> find(std::string_view token) const override;
  std::string token(int id) const override;
  std::string piece(int id) const override { return token(id); }
  std::string surface(int id) const override;
  std::optional<char> byte(int id) const override;
  bool is_special(int id) const override;

 private:
  bool has_piece(int id) const { return id >= 0 && id < pieces_.size(); }

  SentencePiece pieces_;
  AddedTokens added_;
};

}  // namespace heed::text
