// A text as one long row of tokens, and the windows of it that a language model trains on.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "heed/base/index.h"
#include "heed/text/tokenizer.h"

namespace heed::data {

// The tokens of a running text: of each line, then of the line's end. A tokenizer of another family
// reads the lines as one text, after its begin token if it has one, and with its end token.
std::vector<int> encode_text(std::span<const std::string> lines, const text::Tokenizer& tokenizer);

// Token ids in the order of the text. A window of length L is L neighbouring tokens and the one
// that follows each of them.
class TextWindows {
 public:
  // Refuses (ErrorKind::data) a text that is too short for one window.
  TextWindows(std::vector<int> ids, Index length);

  // Windows of an epoch, side by side: all of the text but less than two windows at its ends.
  Index size() const { return num_windows_; }
  Index length() const { return length_; }

  // Where window i of an epoch begins. Every epoch takes its windows in an order of its own, and
  // leaves out another part at the ends, so that the cuts are never the same: a function of (seed,
  // epoch) alone.
  Index begin_of(Index window, std::uint64_t seed, Index epoch) const;

  std::span<const int> input(Index begin) const { return slice(begin); }
  std::span<const int> next(Index begin) const { return slice(begin + 1); }
  // All tokens of the text before this one.
  std::span<const int> before(Index token) const {
    return std::span(ids_).first(static_cast<std::size_t>(token));
  }

 private:
  std::span<const int> slice(Index begin) const {
    return std::span(ids_).subspan(static_cast<std::size_t>(begin),
                                   static_cast<std::size_t>(length_));
  }

  std::vector<int> ids_;
  Index length_;
  Index num_windows_;
};

}  // namespace heed::data
