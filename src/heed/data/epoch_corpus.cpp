#include "heed/data/epoch_corpus.h"

#include "heed/base/cancellation.h"
#include "heed/base/random.h"

namespace heed::data {
namespace {

// Keeps these random numbers apart from those of shuffles, initial weights and the model's dropout.
constexpr std::uint64_t dropout_place = 0x62706564;

constexpr std::uint64_t source_side = 0;
constexpr std::uint64_t target_side = 1;

constexpr Index lines_per_piece = 256;

}  // namespace

EpochCorpus::EpochCorpus(std::span<const std::string> source, std::span<const std::string> target,
                         const text::Tokenizer& tokenizer, const EpochCorpusOptions& options)
    : source_(source),
      target_(target),
      tokenizer_(tokenizer),
      options_(options),
      corpus_(TranslationCorpus::tokenize(
          source, target, tokenizer,
          {.max_length = options.max_length, .truncate = options.truncate})) {
  if (options.bpe_dropout > 0) dropout_.emplace(tokenizer, options.bpe_dropout);
}

const TranslationCorpus& EpochCorpus::of_epoch(Index epoch) {
  if (dropout_ && epoch != epoch_) {
    corpus_.replace_ids(encode_with_dropout(source_, epoch, source_side),
                        encode_with_dropout(target_, epoch, target_side));
    epoch_ = epoch;
  }
  return corpus_;
}

std::vector<std::vector<int>> EpochCorpus::encode_with_dropout(std::span<const std::string> lines,
                                                               Index epoch,
                                                               std::uint64_t side) const {
  const auto max_length = static_cast<std::size_t>(options_.max_length);
  const std::uint64_t key =
      random_key(options_.seed, static_cast<std::uint64_t>(epoch), dropout_place);
  std::vector<std::vector<int>> sentences(static_cast<std::size_t>(corpus_.size()));
  cancellable_ranges(corpus_.size(), lines_per_piece, [&](Index begin, Index end) {
    for (Index pair = begin; pair < end; ++pair) {
      const auto line = static_cast<std::size_t>(corpus_.line(pair));
      std::vector<int>& ids = sentences[pair];
      ids = dropout_->encode(lines[line], random_key(key, line, side));
      if (ids.size() >= max_length) ids = tokenizer_.encode(lines[line]);
      ids.push_back(tokenizer_.end_token());
      if (side == source_side && options_.truncate > 0) {
        tokenizer_.sequence().truncate(ids, options_.truncate);
      }
    }
  });
  return sentences;
}

}  // namespace heed::data
