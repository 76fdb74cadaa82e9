// A serialised SentencePiece model, checked before the library reads it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/tokenizer.h"

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace heed::text {

inline constexpr std::uint64_t max_sentence_piece_bytes = std::uint64_t{64} << 20;

// Immutable. Any number of threads may use one at the same time.
class SentencePiece {
 public:
  // Refuses (ErrorKind::model) what is no such model; `name` stands for the bytes in messages.
  explicit SentencePiece(std::string_view bytes, const std::string& name);
  ~SentencePiece();

  int size() const;
  Subwords subwords() const { return subwords_; }
  bool has_space_before() const { return has_space_before_; }

  // Those of the model itself; SpecialTokens::none where there is none.
  int pad() const;
  int unknown() const;
  int begin() const;
  int end() const;

  std::vector<int> encode(std::string_view text) const;
  std::vector<std::string> encode_pieces(std::string_view text) const;
  std::string decode(std::span<const int> ids) const;

  // Of ids from 0 to size() - 1.
  std::string piece(int id) const;
  bool is_control(int id) const;
  std::optional<char> byte(int id) const;

  std::optional<int> find(std::string_view piece) const;

 private:
  std::unique_ptr<sentencepiece::SentencePieceProcessor> processor_;
  Subwords subwords_ = Subwords::bpe;
  bool has_space_before_ = true;
};

}  // namespace heed::text
