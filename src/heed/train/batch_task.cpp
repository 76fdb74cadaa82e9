#include "heed/train/batch_task.h"

#include "heed/base/random.h"
#include "heed/data/shuffled_range.h"
#include "heed/io/sha256.h"

namespace heed::train::detail {

std::string hash_of_sizes(std::span<const BatchSize> training,
                          std::span<const BatchSize> validation) {
  io::Sha256 hash;
  for (const auto sizes : {training, validation}) {
    hash.update(std::to_string(sizes.size()) + '\n');
    for (const BatchSize& size : sizes) {
      hash.update(std::to_string(size.num_targets) + ' ' + std::to_string(size.num_source_tokens) +
                  '\n');
    }
  }
  return hash.hex_digest();
}

std::size_t shuffled_place(Index number, std::size_t num_batches, Index epoch, std::uint64_t seed) {
  const data::ShuffledRange order(num_batches,
                                  random_key(seed, static_cast<std::uint64_t>(epoch), 0));
  return order[static_cast<std::uint64_t>(number)];
}

}  // namespace heed::train::detail
