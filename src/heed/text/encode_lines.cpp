#include "heed/text/encode_lines.h"

#include "heed/base/cancellation.h"
#include "heed/base/error.h"

namespace heed::text {

std::vector<std::vector<int>> encode_lines(std::span<const std::string> lines,
                                           const Tokenizer& tokenizer,
                                           const LineEncoding& encoding) {
  constexpr Index lines_per_piece = 64;
  std::vector<std::vector<int>> encoded(lines.size());
  cancellable_ranges(std::ssize(lines), lines_per_piece, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      encoded[i] = tokenizer.encode(lines[i]);
      if (encoding.with_end && !encoded[i].empty()) encoded[i].push_back(Tokenizer::end);
    }
  });
  return encoded;
}

std::vector<std::vector<int>> encode_pairs(std::span<const std::string> first,
                                           std::span<const std::string> second,
                                           const Tokenizer& tokenizer) {
  check(first.size() == second.size(), "encode_pairs: expected a second text for each of ",
        first.size(), ", got ", second.size());
  auto encoded = encode_lines(first, tokenizer, {.with_end = true});
  const auto ends = encode_lines(second, tokenizer, {.with_end = true});
  for (std::size_t i = 0; i < encoded.size(); ++i) {
    if (encoded[i].empty() || ends[i].empty()) {
      encoded[i].clear();
    } else {
      encoded[i].insert(encoded[i].end(), ends[i].begin(), ends[i].end());
    }
  }
  return encoded;
}

}  // namespace heed::text
