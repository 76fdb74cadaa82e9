#include "heed/data/translation_corpus.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/text/encode_lines.h"
#include "heed/text/lines.h"

namespace heed::data {

TranslationCorpus TranslationCorpus::tokenize(std::span<const std::string> source,
                                              std::span<const std::string> target,
                                              const text::Tokenizer& tokenizer,
                                              const LengthOptions& options) {
  check_as(ErrorKind::data, source.size() == target.size(),
           "corpus: expected as many target lines as source lines, found ", source.size(), " and ",
           target.size());
  auto source_ids = text::encode_lines(source, tokenizer, text::LineForm::input);
  const auto target_ids = text::encode_lines(target, tokenizer, text::LineForm::output);

  TranslationCorpus corpus;
  std::vector<Index> source_lengths, target_lengths, pair_lengths;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const bool is_blank = text::is_blank(source[i]) || text::is_blank(target[i]) ||
                          source_ids[i].empty() || target_ids[i].empty();
    if (is_blank) {
      ++corpus.num_blank_;
      continue;
    }
    source_lengths.push_back(std::ssize(source_ids[i]));
    target_lengths.push_back(std::ssize(target_ids[i]));
    const bool is_truncated =
        options.truncate > 0 && tokenizer.sequence().truncate(source_ids[i], options.truncate);
    pair_lengths.push_back(std::max(std::ssize(source_ids[i]), target_lengths.back()));
    if (pair_lengths.back() > options.max_length) {
      ++corpus.num_too_long_;
    } else {
      corpus.num_truncated_ += is_truncated;
      corpus.append(source_ids[i], target_ids[i]);
      corpus.lines_.push_back(static_cast<Index>(i));
    }
  }
  check_as(ErrorKind::data, corpus.size() > 0,
           "corpus: expected pairs of sentences, found none that can be used among ", source.size(),
           " (", corpus.num_blank_, " blank, ", corpus.num_too_long_, " longer than ",
           options.max_length, " tokens)");
  corpus.source_lengths_ = summarize_lengths(std::move(source_lengths));
  corpus.target_lengths_ = summarize_lengths(std::move(target_lengths));
  corpus.pair_lengths_ = summarize_lengths(std::move(pair_lengths));
  return corpus;
}

void TranslationCorpus::replace_ids(std::span<const std::vector<int>> source,
                                    std::span<const std::vector<int>> target) {
  check(source.size() == sizes_.size() && target.size() == sizes_.size(), "corpus: expected ",
        sizes_.size(), " sentences on both sides, got ", source.size(), " and ", target.size());
  source_ids_.clear();
  target_ids_.clear();
  source_begin_.assign(1, 0);
  target_begin_.assign(1, 0);
  sizes_.clear();
  for (std::size_t i = 0; i < source.size(); ++i) append(source[i], target[i]);
}

void TranslationCorpus::append(std::span<const int> source, std::span<const int> target) {
  source_ids_.insert(source_ids_.end(), source.begin(), source.end());
  target_ids_.insert(target_ids_.end(), target.begin(), target.end());
  source_begin_.push_back(std::ssize(source_ids_));
  target_begin_.push_back(std::ssize(target_ids_));
  sizes_.push_back({std::ssize(source), std::ssize(target)});
}

}  // namespace heed::data
