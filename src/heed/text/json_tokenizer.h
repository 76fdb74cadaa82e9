// JsonTokenizer: a tokenizer.json of Hugging Face, with the same tokens, offsets and texts.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "heed/text/encoding.h"
#include "heed/text/sequence_template.h"

namespace heed::text {

// How tokens stand for bytes that are no text by themselves.
enum class TokenBytes {
  none,
  fallback,  // <0x0A> stands for a byte
  alphabet,  // each character of a token stands for one byte, as in GPT-2
};

// Immutable. Copies share the model, and any number of threads may use one at the same time.
class JsonTokenizer {
 public:
  // Refuses (ErrorKind::model) a file that is damaged, or that asks for something that is not
  // known, by name: "tokenizer.json: normalizer.type: expected one of ..., found Elided".
  static JsonTokenizer load(const std::string& path);
  // `name` stands for the bytes in messages.
  static JsonTokenizer from_bytes(std::string_view bytes,
                                  const std::string& name = "tokenizer.json");

  // What is not UTF-8 is
  // taken for U+FFFD, one for each maximal part. Refuses (ErrorKind::model) unknown text when the
  // file names no token for it, and a text that the file's expressions cannot be matched with in a
  // bounded number of steps.
  Encoding encode(std::string_view text, const EncodeOptions& options = {}) const;
  Encoding encode_pair(std::string_view text, std::string_view second,
                       const EncodeOptions& options = {}) const;

  // An id outside the vocabulary is refused; one within it that has no token vanishes.
  std::string decode(std::span<const int> ids, const DecodeOptions& options = {}) const;

  int size() const;  // the largest id + 1
  std::optional<int> id(std::string_view token) const;
  std::optional<std::string> token(int id) const;
  bool is_added(int id) const;    // a token that is found in a text before it is split into words
  bool is_special(int id) const;  // an added token that is special

  // The special tokens that encode() adds to a text, as one template.
  SequenceTemplate sequence() const;
  // The token for what the vocabulary does not have; nothing when the file names none.
  std::optional<int> unknown() const;
  std::string_view algorithm() const;  // BPE, Unigram, WordLevel or WordPiece
  TokenBytes token_bytes() const;

 private:
  struct Parts;
  Encoding encode_one(std::string_view text) const;
  explicit JsonTokenizer(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}

  std::shared_ptr<const Parts> parts_;
};

}  // namespace heed::text
