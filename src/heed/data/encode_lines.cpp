#include "heed/data/encode_lines.h"

#include "heed/base/parallel.h"

namespace heed::data {

std::vector<std::vector<int>> encode_lines(std::span<const std::string> lines,
                                           const text::Tokenizer& tokenizer) {
  constexpr Index lines_per_piece = 256;
  std::vector<std::vector<int>> encoded(lines.size());
  parallel_ranges(static_cast<Index>(lines.size()), lines_per_piece, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      encoded[i] = tokenizer.encode(lines[i]);
      if (!encoded[i].empty()) encoded[i].push_back(text::Tokenizer::end);
    }
  });
  return encoded;
}

}  // namespace heed::data
