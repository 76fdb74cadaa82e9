// A corpus as each epoch sees it: always the same or, with BPE-dropout, segmented again each time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "heed/data/translation_corpus.h"
#include "heed/text/bpe_dropout.h"

namespace heed::data {

struct EpochCorpusOptions {
  Index max_length = 256;  // as in LengthOptions
  Index truncate = 0;      // as in LengthOptions
  double bpe_dropout = 0;  // probability to leave out a merge; above 0 the pieces must be bpe
  std::uint64_t seed = 1;
};

class EpochCorpus {
 public:
  // Keeps and leaves out the pairs that TranslationCorpus::tokenize does, and refuses the same. The
  // texts must outlive this.
  EpochCorpus(std::span<const std::string> source, std::span<const std::string> target,
              const text::Tokenizer& tokenizer, const EpochCorpusOptions& options);

  // The same pairs in every epoch, in the same order; stays until another epoch is asked for. How a
  // sentence is segmented depends on its line, its side, the seed and the epoch alone. One that
  // dropout would make longer than max_length is segmented without.
  const TranslationCorpus& of_epoch(Index epoch);

  // The same in every epoch.
  Index size() const { return corpus_.size(); }
  const TranslationCorpus& any_epoch() const { return corpus_; }  // but for its tokens

 private:
  std::vector<std::vector<int>> encode_with_dropout(std::span<const std::string> lines, Index epoch,
                                                    std::uint64_t side) const;

  std::span<const std::string> source_;
  std::span<const std::string> target_;
  text::Tokenizer tokenizer_;
  EpochCorpusOptions options_;
  std::optional<text::BpeDropout> dropout_;
  TranslationCorpus corpus_;
  Index epoch_ = -1;  // the epoch that corpus_ is segmented for; -1: without dropout
};

}  // namespace heed::data
