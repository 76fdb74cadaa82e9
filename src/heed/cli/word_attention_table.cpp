#include "heed/cli/word_attention_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace heed::cli {

void print_table(std::ostream& out, const infer::WordAttention& attention) {
  std::size_t width = 0;
  for (const std::string& word : attention.words) width = std::max(width, word.size());
  out << fmt::format("  {:<{}}", "", width);
  for (const std::string& head : attention.heads) out << fmt::format("  {:>4}", head);
  out << '\n';
  for (std::size_t i = 0; i < attention.words.size(); ++i) {
    out << fmt::format("  {:<{}}", attention.words[i], width);
    for (const float weight : attention.weights[i]) out << fmt::format("  {:.2f}", weight);
    out << '\n';
  }
}

}  // namespace heed::cli
