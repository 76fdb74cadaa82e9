// The tokenizers of BLEU, as in sacreBLEU.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed::metrics {

enum class BleuTokenizer {
  mteval_13a,     // "13a": punctuation of Western languages, as in the WMT evaluations
  none,           // "none": words are what stands between spaces
  international,  // "intl": all punctuation and symbols of Unicode
  character,      // "char": every character is a word
};

// "13a", "none", "intl", "char"; any other name is refused (ErrorKind::usage).
BleuTokenizer parse_bleu_tokenizer(std::string_view name);
std::string_view to_string(BleuTokenizer tokenizer);
std::vector<std::string> bleu_tokenizer_names();  // all of them

// The words of one line of UTF-8 text. Space at its end never matters.
std::vector<std::string> tokenize_for_bleu(std::string_view line, BleuTokenizer tokenizer);

}  // namespace heed::metrics
