#include "heed/core/storage.h"

#include <atomic>
#include <cstdlib>
#include <new>

#include "heed/base/error.h"
#include "heed/base/sanitizer.h"
#include "heed/core/arena.h"

namespace heed {
namespace {

#if HEED_ADDRESS_SANITIZER
// Every tensor from the system, so that the sanitizer sees a read behind its end or after free.
void* allocate_block(std::size_t bytes) {
  void* block = nullptr;
  if (::posix_memalign(&block, Arena::alignment, bytes) != 0) throw std::bad_alloc();
  return block;
}
void free_block(void* block, std::size_t) { std::free(block); }
#else
// Never destroyed: tensors in static storage may be freed after it would be.
Arena& arena() {
  static Arena* const the_arena = new Arena;
  return *the_arena;
}
void* allocate_block(std::size_t bytes) { return arena().allocate(bytes); }
void free_block(void* block, std::size_t bytes) { arena().free(block, bytes); }
#endif

std::atomic<Index> bytes_in_use{0};
std::atomic<Index> peak_bytes{0};

void count_bytes(Index bytes) {
  const Index now = bytes_in_use.fetch_add(bytes) + bytes;
  Index peak = peak_bytes.load();
  while (now > peak && !peak_bytes.compare_exchange_weak(peak, now)) {
  }
}

}  // namespace

std::shared_ptr<float> allocate_floats(Index count) {
  check(count >= 0 && count < (Index{1} << 60), "tensor: cannot hold ", count, " values");
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(float);
  void* block = allocate_block(bytes);
  count_bytes(static_cast<Index>(bytes));
  return {static_cast<float*>(block), [bytes](float* floats) {
            count_bytes(-static_cast<Index>(bytes));
            free_block(floats, bytes);
          }};
}

Index tensor_bytes() { return bytes_in_use; }
Index peak_tensor_bytes() { return peak_bytes; }
void reset_peak_tensor_bytes() { peak_bytes = bytes_in_use.load(); }

}  // namespace heed
