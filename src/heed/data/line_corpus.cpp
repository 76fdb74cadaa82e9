#include "heed/data/line_corpus.h"

#include "heed/base/error.h"
#include "heed/text/encode_lines.h"
#include "heed/text/lines.h"

namespace heed::data {

LineCorpus LineCorpus::tokenize(std::span<const std::string> lines,
                                const text::Tokenizer& tokenizer, Index max_length) {
  auto encoded = text::encode_lines(lines, tokenizer, {.with_end = true});
  LineCorpus corpus;
  for (std::size_t i = 0; i < encoded.size(); ++i) {
    const auto length = std::ssize(encoded[i]);
    if (length == 0 || text::is_blank(lines[i])) {
      ++corpus.num_blank_;
    } else if (length > max_length) {
      ++corpus.num_too_long_;
    } else {
      corpus.lines_.push_back(std::move(encoded[i]));
      corpus.sizes_.push_back({.source = length, .target = 0});
      corpus.places_.push_back(static_cast<Index>(i));
    }
  }
  check_as(ErrorKind::data, corpus.size() > 0,
           "corpus: expected lines of text, found none that can be used among ", lines.size(), " (",
           corpus.num_blank_, " blank, ", corpus.num_too_long_, " longer than ", max_length,
           " tokens)");
  return corpus;
}

}  // namespace heed::data
