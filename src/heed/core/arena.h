// Allocator for tensors: large regions from mmap, split into blocks that coalesce when freed.
//
// A training step allocates and frees thousands of blocks whose sizes follow the lengths of its
// sentences, so hardly two steps request the same sizes. Coalescing free neighbours keeps the
// memory of a run near what its largest step needs, and large regions lie on huge pages.
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
  void* allocate(std::size_t bytes);
  // `bytes` as it was passed to allocate.
  void free(void* block, std::size_t bytes) noexcept;

  std::size_t region_bytes() const;  // mapped so far; never unmapped

 private:
  using Place = std::byte*;

  // Best fit: the smaller block first. Of two of one size the one at the higher address: the system
  // maps regions downwards, so that one was used before, and a repeated step touches no new memory.
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
  std::set<FreeBlock> free_by_size_;   // the same blocks, for best fit
  std::size_t region_bytes_ = 0;
};

}  // namespace heed
