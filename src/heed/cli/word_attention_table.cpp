#include "heed/cli/word_attention_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace heed::cli {

void print_row(std::ostream& out, const infer::WordAttention& attention, std::size_t head,
               std::string_view predicted) {
  std::string words = fmt::format("  {:<{}}", "", predicted.size());
  std::string weights = fmt::format("  {}", predicted);
  for (std::size_t i = 0; i < attention.words.size(); ++i) {
    const std::size_t width = std::max<std::size_t>(attention.words[i].size(), 4);
    words += fmt::format("  {:>{}}", attention.words[i], width);
    weights += fmt::format("  {:>{}.2f}", attention.weights[i][head], width);
  }
  out << words << '\n' << weights << '\n';
}

}  // namespace heed::cli
