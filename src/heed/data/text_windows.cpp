#include "heed/data/text_windows.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/data/shuffled_range.h"
#include "heed/text/encode_lines.h"

namespace heed::data {
namespace {

// Keeps these random numbers apart from those of initial weights and dropout.
constexpr std::uint64_t order_place = 0x77696e64;
constexpr std::uint64_t offset_place = 0x6f666673;

}  // namespace

std::vector<int> encode_text(std::span<const std::string> lines, const text::Tokenizer& tokenizer) {
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
