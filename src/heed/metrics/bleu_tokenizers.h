// The tokenizers of BLEU, as in sacreBLEU.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/metrics/bleu.h"

namespace heed::metrics {

// The words of one line of UTF-8 text. Space at its end never matters.
std::vector<std::string> tokenize_for_bleu(std::string_view line, BleuTokenizer tokenizer);

}  // namespace heed::metrics
