#include "heed/infer/contrastive.h"

#include <algorithm>
#include <string>

namespace heed::infer {
namespace {

// Every translation beside its source, the right one of an item before the wrong ones.
struct Pairs {
  std::vector<std::string> sources, targets;
  std::vector<Index> lines;

  explicit Pairs(std::span<const data::ContrastiveItem> items) {
    for (const data::ContrastiveItem& item : items) {
      add(item, item.target);
      for (const std::string& wrong : item.contrastive) add(item, wrong);
    }
  }

 private:
  void add(const data::ContrastiveItem& item, const std::string& target) {
    sources.push_back(item.source);
    targets.push_back(target);
    lines.push_back(static_cast<Index>(item.line));
  }
};

}  // namespace

bool ContrastiveScores::is_right() const {
  return std::ranges::all_of(contrastive, [&](double wrong) { return target > wrong; });
}

std::vector<ContrastiveScores> score_contrastive(const PairScorer& scorer,
                                                 std::span<const data::ContrastiveItem> items,
                                                 const ContrastiveOptions& options) {
  const Pairs pairs(items);
  const std::vector<ScoredLine> lines = scorer.score(pairs.sources, pairs.targets,
                                                     {.batch_tokens = options.batch_tokens,
                                                      .truncate = options.truncate,
                                                      .line_numbers = pairs.lines});
  auto line = lines.begin();
  const auto next_score = [&] {
    const ScoredLine& scored = *line++;
    return options.normalize ? scored.mean_log_probability() : scored.log_probability();
  };
  std::vector<ContrastiveScores> scores;
  for (const data::ContrastiveItem& item : items) {
    ContrastiveScores score{.target = next_score(), .contrastive = {}};
    while (score.contrastive.size() < item.contrastive.size()) {
      score.contrastive.push_back(next_score());
    }
    scores.push_back(std::move(score));
  }
  return scores;
}

}  // namespace heed::infer
