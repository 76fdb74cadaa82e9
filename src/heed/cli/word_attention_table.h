// The table of word attention that heed demo prints.
#pragma once

#include <iosfwd>

#include "heed/infer/word_attention.h"

namespace heed::cli {

// One line for each word, one column for each head.
void print_table(std::ostream& out, const infer::WordAttention& attention);

}  // namespace heed::cli
