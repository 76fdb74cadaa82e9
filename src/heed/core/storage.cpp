#include "heed/core/storage.h"

#include <sys/mman.h>

#include <atomic>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

#include "heed/base/error.h"

namespace heed {
namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t huge_page = std::size_t{2} << 20;

// Eight classes to each power of two: at most an eighth is wasted, and equal sizes meet again.
std::size_t size_class(std::size_t bytes) {
  if (bytes <= 512)
    return (bytes + alignment - 1) / alignment * alignment + (bytes == 0) * alignment;
  const std::size_t step = std::bit_floor(bytes) / 8;
  return (bytes + step - 1) / step * step;
}

class Pool {
 public:
  void* take(std::size_t bytes) {
    {
      std::lock_guard lock(mutex_);
      auto& free_blocks = free_[bytes];
      if (!free_blocks.empty()) {
        void* block = free_blocks.back();
        free_blocks.pop_back();
        return block;
      }
    }
    const std::size_t align = bytes >= huge_page ? huge_page : alignment;
    void* block = std::aligned_alloc(align, (bytes + align - 1) / align * align);
    if (block == nullptr) throw std::bad_alloc();
    if (bytes >= huge_page) madvise(block, bytes, MADV_HUGEPAGE);
    return block;
  }

  void give_back(void* block, std::size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
    std::free(block);  // so that the sanitizer sees a use after the end of a tensor's life
    (void)bytes;
#else
    std::lock_guard lock(mutex_);
    free_[bytes].push_back(block);
#endif
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::size_t, std::vector<void*>> free_;
};

// Never destroyed: tensors in static storage may be freed after it would be.
Pool& pool() {
  static Pool* const the_pool = new Pool;
  return *the_pool;
}

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
  const std::size_t bytes = size_class(static_cast<std::size_t>(count) * sizeof(float));
  void* block = pool().take(bytes);
  count_bytes(static_cast<Index>(bytes));
  return {static_cast<float*>(block), [bytes](float* floats) {
            count_bytes(-static_cast<Index>(bytes));
            pool().give_back(floats, bytes);
          }};
}

Index tensor_bytes() { return bytes_in_use; }
Index peak_tensor_bytes() { return peak_bytes; }

}  // namespace heed
