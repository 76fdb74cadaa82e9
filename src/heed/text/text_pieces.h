// A text in pieces: what pre-tokenizers split, and what a model then segments piece by piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/text/aligned_text.h"
#include "heed/text/regex.h"

namespace heed::text {

struct TextPiece {
  ByteRange range;                 // in the text
  std::uint32_t source_begin = 0;  // where it begins in the original text
  std::optional<int> added_token;  // its id: nothing splits or changes such a piece
};

class TextPieces {
 public:
  // Appends part of a text as one piece, and nothing if it is empty.
  void append(const AlignedText& text, ByteRange range,
              std::optional<int> added_token = std::nullopt);

  const AlignedText& text() const { return text_; }
  const std::vector<TextPiece>& pieces() const { return pieces_; }
  std::string_view bytes(const TextPiece& piece) const {
    return std::string_view(text_.bytes)
        .substr(piece.range.begin, piece.range.end - piece.range.begin);
  }

  // Replaces each piece by parts of it: cut(bytes of the piece, parts) appends them, counted from
  // the beginning of the piece. Empty parts vanish.
  template <typename Cut>
  void split(Cut&& cut) {
    std::vector<TextPiece> split;
    split.reserve(pieces_.size());
    std::vector<ByteRange> parts;
    for (const TextPiece& piece : pieces_) {
      if (piece.added_token) {
        split.push_back(piece);
        continue;
      }
      parts.clear();
      cut(bytes(piece), parts);
      for (const ByteRange& part : parts) add_part(piece, part, split);
    }
    pieces_ = std::move(split);
  }

  // Changes the text of each piece: change(piece, text) appends the new one to `text`.
  template <typename Change>
  void rewrite(Change&& change) {
    AlignedText rewritten;
    rewritten.reserve(text_.size() + text_.size() / 4);
    for (TextPiece& piece : pieces_) {
      const std::size_t begin = rewritten.size();
      if (piece.added_token) {
        rewritten.append(text_, piece.range.begin, piece.range.end);
      } else {
        change(std::as_const(piece), rewritten);
      }
      piece.range = {begin, rewritten.size()};
    }
    text_ = std::move(rewritten);
  }

 private:
  void add_part(const TextPiece& piece, ByteRange part, std::vector<TextPiece>& to) const;

  AlignedText text_;
  std::vector<TextPiece> pieces_;
};

}  // namespace heed::text
