// The interface of the tokenizers of all families. Tokenizer adds what the special tokens mean.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/encoding.h"
#include "heed/text/tokenizer.h"

namespace heed::text {

// Immutable. Any number of threads may use one at the same time. Ids are never negative; for an id
// without a token the functions give nothing.
class TokenizerModel {
 public:
  TokenizerModel() = default;
  virtual ~TokenizerModel() = default;
  TokenizerModel(const TokenizerModel&) = delete;
  TokenizerModel& operator=(const TokenizerModel&) = delete;

  virtual int size() const = 0;
  virtual Subwords subwords() const = 0;
  virtual std::string_view algorithm() const { return name_of(subwords()); }
  virtual bool has_space_before() const = 0;

  virtual std::vector<int> encode(std::string_view text) const = 0;
  virtual std::vector<int> encode_target(std::string_view text) const { return encode(text); }
  // With offsets and the special tokens of the file; nothing where a tokenizer has only ids.
  virtual std::optional<Encoding> encode_whole(std::string_view /*text*/,
                                               const EncodeOptions& /*options*/) const {
    return std::nullopt;
  }
  virtual std::string decode(std::span<const int> ids) const = 0;

  virtual std::optional<int> find(std::string_view token) const = 0;
  virtual std::string token(int id) const = 0;  // as the tokenizer's files write it
  virtual std::string piece(int id) const = 0;  // "▁" stands for a space
  // The bytes that the token adds to a text, the space before it included.
  virtual std::string surface(int id) const = 0;
  virtual std::optional<char> byte(int id) const = 0;
  virtual bool is_special(int id) const = 0;  // made to stand for no text
};

// "▁" becomes a space.
std::string with_spaces(std::string_view piece);

}  // namespace heed::text
