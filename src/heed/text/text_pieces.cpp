#include "heed/text/text_pieces.h"

namespace heed::text {

void TextPieces::append(const AlignedText& text, ByteRange range, std::optional<int> added_token) {
  if (range.begin == range.end) return;
  const std::size_t begin = text_.size();
  text_.append(text, range.begin, range.end);
  pieces_.push_back({{begin, text_.size()}, text.sources[range.begin].begin, added_token});
}

void TextPieces::add_part(const TextPiece& piece, ByteRange part,
                          std::vector<TextPiece>& to) const {
  if (part.begin == part.end) return;
  const std::size_t begin = piece.range.begin + part.begin;
  to.push_back({{begin, piece.range.begin + part.end}, text_.sources[begin].begin, std::nullopt});
}

}  // namespace heed::text
