#include "heed/train/batch_task.h"

#include "heed/base/random.h"
#include "heed/data/shuffled_range.h"

namespace heed::train::detail {

std::size_t shuffled_place(Index number, std::size_t num_batches, Index epoch, std::uint64_t seed) {
  const data::ShuffledRange order(num_batches,
                                  random_key(seed, static_cast<std::uint64_t>(epoch), 0));
  return order[static_cast<std::uint64_t>(number)];
}

}  // namespace heed::train::detail
