#include "heed/data/text_windows.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/data/shuffled_range.h"
#include "heed/text/encode_lines.h"
#include "heed/text/lines.h"

namespace heed::data {
namespace {

// Keeps these random numbers apart from those of initial weights and dropout.
constexpr std::uint64_t order_place = 0x77696e64;
constexpr std::uint64_t offset_place = 0x6f666673;

// Lines in one piece: the tokens of a line end may depend on what follows. A piece ends where a
// line begins with a letter after one that is not blank, which changes no token of most tokenizers.
std::vector<std::string> long_pieces(std::span<const std::string> lines) {
  constexpr std::size_t piece_bytes = 1 << 16;
  std::vector<std::string> pieces;
  bool may_end = true;
  for (const std::string& line : lines) {
    const bool is_text = !line.empty() && !text::is_blank(line.substr(0, 1));
    if (pieces.empty() || (pieces.back().size() >= piece_bytes && may_end && is_text)) {
      pieces.emplace_back();
    }
    pieces.back().append(line).push_back('\n');
    may_end = !text::is_blank(line);
  }
  return pieces;
}

// Another family's: what stands in front of any text, the text, and its end.
std::vector<int> encode_document(std::span<const std::string> lines,
                                 const text::Tokenizer& tokenizer) {
  std::vector<int> all = tokenizer.sequence().prefix;
  for (const std::vector<int>& ids : text::encode_lines(long_pieces(lines), tokenizer)) {
    all.insert(all.end(), ids.begin(), ids.end());
  }
  if (const int end = tokenizer.tokens().end(); end != text::SpecialTokens::none) {
    all.push_back(end);
  }
  return all;
}

}  // namespace

std::vector<int> encode_text(std::span<const std::string> lines, const text::Tokenizer& tokenizer) {
  if (!tokenizer.is_own()) return encode_document(lines, tokenizer);
  const std::vector<int> line_end = text::encode_line_end(tokenizer);
  std::vector<int> all;
  for (const std::vector<int>& ids : text::encode_lines(lines, tokenizer)) {
    all.insert(all.end(), ids.begin(), ids.end());
    all.insert(all.end(), line_end.begin(), line_end.end());
  }
  return all;
}

TextWindows::TextWindows(std::vector<int> ids, Index length)
    : ids_(std::move(ids)), length_(length) {
  check(length >= 1, "text windows: expected a length of at least 1, got ", length);
  const Index num_predictions = std::ssize(ids_) - 1;
  check_as(ErrorKind::data, num_predictions >= length, "text: expected at least ", length + 1,
           " tokens, one window and what follows it, found ", ids_.size());
  num_windows_ = std::max<Index>(1, num_predictions / length - 1);
}

Index TextWindows::begin_of(Index window, std::uint64_t seed, Index epoch) const {
  const auto step = static_cast<std::uint64_t>(epoch);
  const ShuffledRange order(static_cast<std::uint64_t>(num_windows_),
                            random_key(seed, step, order_place));
  const Index rest = std::ssize(ids_) - 1 - num_windows_ * length_;
  const auto offset = static_cast<Index>(Rng(random_key(seed, step, offset_place)).below(rest + 1));
  return offset + length_ * static_cast<Index>(order[static_cast<std::uint64_t>(window)]);
}

}  // namespace heed::data
