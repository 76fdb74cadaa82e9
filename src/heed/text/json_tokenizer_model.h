// A tokenizer.json as the tokenizer of a model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/text/json_tokenizer.h"
#include "heed/text/tokenizer_model.h"

namespace heed::text {

class JsonTokenizerModel : public TokenizerModel {
 public:
  explicit JsonTokenizerModel(JsonTokenizer tokenizer);

  const JsonTokenizer& tokenizer() const { return tokenizer_; }

  int size() const override { return tokenizer_.size(); }
  Subwords subwords() const override;
  std::string_view algorithm() const override;
  bool has_space_before() const override { return has_space_before_; }
  std::vector<int> encode(std::string_view text) const override;
  std::optional<Encoding> encode_whole(std::string_view text,
                                       const EncodeOptions& options) const override {
    return tokenizer_.encode(text, options);
  }
  std::string decode(std::span<const int> ids) const override;
  std::optional<int> find(std::string_view token) const override { return tokenizer_.id(token); }
  std::string token(int id) const override { return tokenizer_.token(id).value_or(""); }
  std::string piece(int id) const override;
  std::string surface(int id) const override;
  std::optional<char> byte(int id) const override;
  bool is_special(int id) const override { return tokenizer_.is_special(id); }

 private:
  void find_word();

  JsonTokenizer tokenizer_;
  // A token that is a word by itself, and its text: what other tokens add to it is their surface.
  std::vector<int> word_;
  std::string word_text_;
  bool has_space_before_ = false;
};

}  // namespace heed::text
