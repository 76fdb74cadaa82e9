// Memory for tensors: large regions of the system's memory, cut into blocks and joined again.
//
// A training step makes and frees thousands of blocks whose sizes follow the lengths of its
// sentences, so hardly two steps ask for the same ones. Joining freed neighbours keeps the memory
// of a run near what its largest step needs, and large regions lie on huge pages.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <set>

namespace heed {

class Arena {
 public:
  static constexpr std::size_t alignment = 64;

  // Blocks are aligned to 64 bytes. Throws std::bad_alloc.
  void* take(std::size_t bytes);
  // `bytes` as it was asked for.
  void give_back(void* block, std::size_t bytes) noexcept;

  std::size_t num_free_blocks() const;
  std::size_t region_bytes() const;  // asked of the system so far; it is kept for later blocks

 private:
  using Place = std::byte*;

  // The smaller block first. Of two alike the higher one: regions are handed out downwards, so it
  // is the one that was used before, and what repeats touches no new memory.
  struct FreeBlock {
    std::size_t bytes;
    Place place;
    friend bool operator<(const FreeBlock& a, const FreeBlock& b) {
      return a.bytes != b.bytes ? a.bytes < b.bytes : a.place > b.place;
    }
  };
  FreeBlock find_free(std::size_t bytes);

  void add_region(std::size_t bytes);
  void add_free(Place place, std::size_t bytes);
  void remove_free(Place place, std::size_t bytes);

  mutable std::mutex mutex_;
  std::map<Place, std::size_t> free_;  // never two neighbours
  std::set<FreeBlock> free_by_size_;   // the same, to find the smallest that fits
  std::size_t region_bytes_ = 0;
};

}  // namespace heed
