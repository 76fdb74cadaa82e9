#include "heed/text/encode_lines.h"

#include "heed/base/cancellation.h"

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

}  // namespace heed::text
