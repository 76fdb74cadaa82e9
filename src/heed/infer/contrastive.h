// Contrastive evaluation of a translator: does it find the right translation likelier than the
// wrong ones?
#pragma once

#include <span>
#include <vector>

#include "heed/data/contrastive_items.h"
#include "heed/infer/scoring.h"

namespace heed::infer {

struct ContrastiveOptions {
  // Log-probabilities per token, the end token included, instead of their sums: otherwise a shorter
  // translation is likelier by its length.
  bool normalize = false;
  Index batch_tokens = 1024;
  bool truncate = false;  // cut the end of texts that are too long
};

struct ContrastiveScores {
  double target = 0;
  std::vector<double> contrastive;

  bool is_right() const;  // the target is likelier than every wrong translation; a tie is not
};

// One result for each item, with the bits that PairScorer gives each pair alone. Refuses
// (ErrorKind::data) texts that are too long, by the line of their item, unless they may be
// truncated.
std::vector<ContrastiveScores> score_contrastive(const PairScorer& scorer,
                                                 std::span<const data::ContrastiveItem> items,
                                                 const ContrastiveOptions& options = {});

}  // namespace heed::infer
