// The row of word attention that heed demo prints.
#pragma once

#include <iosfwd>
#include <string_view>

#include "heed/infer/word_attention.h"

namespace heed::cli {

// The words, and below them the weights of one head, after the word that they predict.
void print_row(std::ostream& out, const infer::WordAttention& attention, std::size_t head,
               std::string_view predicted);

}  // namespace heed::cli
