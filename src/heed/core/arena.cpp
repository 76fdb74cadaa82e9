#include "heed/core/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <new>

namespace heed {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t smallest_region = std::size_t{32} << 20;

std::size_t round_up(std::size_t bytes, std::size_t step) {
  return (bytes + step - 1) / step * step;
}

std::size_t block_size(std::size_t bytes) {
  return round_up(std::max(bytes, std::size_t{1}), Arena::alignment);
}

}  // namespace

void* Arena::allocate(std::size_t bytes) {
  bytes = block_size(bytes);
  std::lock_guard lock(mutex_);
  const auto [size, place] = find_free(bytes);
  remove_free(place, size);
  if (size > bytes) add_free(place + bytes, size - bytes);
  return place;
}

Arena::FreeBlock Arena::find_free(std::size_t bytes) {
  const FreeBlock smallest{bytes, reinterpret_cast<Place>(UINTPTR_MAX)};
  auto block = free_by_size_.lower_bound(smallest);
  if (block == free_by_size_.end()) {
    add_region(bytes);
    block = free_by_size_.lower_bound(smallest);
  }
  return *block;
}

void Arena::free(void* block, std::size_t bytes) noexcept {
  Place place = static_cast<Place>(block);
  bytes = block_size(bytes);
  std::lock_guard lock(mutex_);
  const auto after = free_.lower_bound(place);
  if (after != free_.begin()) {
    const auto [before, size] = *std::prev(after);
    if (before + size == place) {
      remove_free(before, size);
      place = before;
      bytes += size;
    }
  }
  const auto next = free_.find(place + bytes);
  if (next != free_.end()) {
    const std::size_t size = next->second;
    remove_free(place + bytes, size);
    bytes += size;
  }
  add_free(place, bytes);
}

std::size_t Arena::region_bytes() const {
  std::lock_guard lock(mutex_);
  return region_bytes_;
}

// Regions are aligned to huge pages: what mmap returns is trimmed at both ends.
void Arena::add_region(std::size_t bytes) {
  bytes = std::max(smallest_region, round_up(bytes, huge_page));
  void* mapped = ::mmap(nullptr, bytes + huge_page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  const Place start = static_cast<Place>(mapped);
  const std::size_t skipped =
      (huge_page - reinterpret_cast<std::uintptr_t>(start) % huge_page) % huge_page;
  if (skipped > 0) ::munmap(start, skipped);
  if (skipped < huge_page) ::munmap(start + skipped + bytes, huge_page - skipped);
  ::madvise(start + skipped, bytes, MADV_HUGEPAGE);
  region_bytes_ += bytes;
  add_free(start + skipped, bytes);
}

void Arena::add_free(Place place, std::size_t bytes) {
  free_.emplace(place, bytes);
  free_by_size_.insert({bytes, place});
}

void Arena::remove_free(Place place, std::size_t bytes) {
  free_.erase(place);
  free_by_size_.erase({bytes, place});
}

}  // namespace heed
