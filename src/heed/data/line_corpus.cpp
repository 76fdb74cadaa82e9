#include "heed/data/line_corpus.h"

#include "heed/base/error.h"
#include "heed/text/encode_lines.h"
#include "heed/text/lines.h"

namespace heed::data {

LineCorpus LineCorpus::tokenize(std::span<const std::string> lines,
                                const text::Tokenizer& tokenizer, const LengthOptions& options) {
  auto encoded = text::encode_lines(lines, tokenizer, text::LineForm::input);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (text::is_blank(lines[i])) encoded[i].clear();
  }
  return of_tokens(std::move(encoded), tokenizer.sequence(), options);
}

LineCorpus LineCorpus::tokenize_pairs(std::span<const std::string> first,
                                      std::span<const std::string> second,
                                      const text::Tokenizer& tokenizer,
                                      const LengthOptions& options) {
  auto encoded = text::encode_pairs(first, second, tokenizer);
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (text::is_blank(first[i]) || text::is_blank(second[i])) encoded[i].clear();
  }
  const text::SequenceTemplate& sequence = tokenizer.sequence();
  return {std::move(encoded), options, [&sequence](std::vector<int>& ids, Index max_tokens) {
            return sequence.truncate_pair(ids, max_tokens);
          }};
}

LineCorpus LineCorpus::of_tokens(std::vector<std::vector<int>> lines,
                                 const text::SequenceTemplate& sequence,
                                 const LengthOptions& options) {
  return {std::move(lines), options, [&sequence](std::vector<int>& ids, Index max_tokens) {
            return sequence.truncate(ids, max_tokens);
          }};
}

LineCorpus::LineCorpus(std::vector<std::vector<int>> encoded, const LengthOptions& options,
                       const Truncate& truncate) {
  std::vector<Index> lengths;
  for (std::size_t i = 0; i < encoded.size(); ++i) {
    if (encoded[i].empty()) {
      ++num_blank_;
      continue;
    }
    lengths.push_back(std::ssize(encoded[i]));
    const bool is_truncated = options.truncate > 0 && truncate(encoded[i], options.truncate);
    const auto length = std::ssize(encoded[i]);
    if (length > options.max_length) {
      ++num_too_long_;
    } else {
      num_truncated_ += is_truncated;
      lines_.push_back(std::move(encoded[i]));
      sizes_.push_back({.source = length, .target = 0});
      places_.push_back(static_cast<Index>(i));
    }
  }
  check_as(ErrorKind::data, size() > 0,
           "corpus: expected lines of text, found none that can be used among ", encoded.size(),
           " (", num_blank_, " blank, ", num_too_long_, " longer than ", options.max_length,
           " tokens)");
  lengths_ = summarize_lengths(std::move(lengths));
}

}  // namespace heed::data
