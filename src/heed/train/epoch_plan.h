// The batches of the epoch that a run is in.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "heed/data/batch_plan.h"

namespace heed::train {

// Makes the plan of an epoch when it is first asked for, and keeps it until another is.
class EpochPlan {
 public:
  EpochPlan(Index batch_tokens, std::uint64_t seed) : batch_tokens_(batch_tokens), seed_(seed) {}

  // `sizes` are those of this epoch.
  const data::BatchPlan& of_epoch(Index epoch, std::span<const data::PairSize> sizes) {
    if (epoch_ != epoch) {
      plan_ = data::BatchPlan::shuffled(sizes, batch_tokens_, seed_, epoch);
      epoch_ = epoch;
    }
    return *plan_;
  }

 private:
  Index batch_tokens_;
  std::uint64_t seed_;
  std::optional<data::BatchPlan> plan_;
  Index epoch_ = -1;
};

}  // namespace heed::train
