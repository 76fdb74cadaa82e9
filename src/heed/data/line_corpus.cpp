#include "heed/data/line_corpus.h"

#include "heed/base/error.h"
#include "heed/text/encode_lines.h"
#include "heed/text/lines.h"

namespace heed::data {

LineCorpus LineCorpus::tokenize(std::span<const std::string> lines,
                                const text::Tokenizer& tokenizer, const LengthOptions& options) {
  auto encoded = text::encode_lines(lines, tokenizer, {.with_end = true});
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (text::is_blank(lines[i])) encoded[i].clear();
  }
  return of_tokens(std::move(encoded), options);
}

LineCorpus LineCorpus::of_tokens(std::vector<std::vector<int>> lines,
                                 const LengthOptions& options) {
  LineCorpus corpus;
  std::vector<Index> lengths;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) {
      ++corpus.num_blank_;
      continue;
    }
    lengths.push_back(std::ssize(lines[i]));
    const bool is_truncated = options.truncate > 0 && truncate_text(lines[i], options.truncate);
    const auto length = std::ssize(lines[i]);
    if (length > options.max_length) {
      ++corpus.num_too_long_;
    } else {
      corpus.num_truncated_ += is_truncated;
      corpus.lines_.push_back(std::move(lines[i]));
      corpus.sizes_.push_back({.source = length, .target = 0});
      corpus.places_.push_back(static_cast<Index>(i));
    }
  }
  check_as(ErrorKind::data, corpus.size() > 0,
           "corpus: expected lines of text, found none that can be used among ", lines.size(), " (",
           corpus.num_blank_, " blank, ", corpus.num_too_long_, " longer than ", options.max_length,
           " tokens)");
  corpus.lengths_ = summarize_lengths(std::move(lengths));
  return corpus;
}

}  // namespace heed::data
