#include "heed/base/cancellation.h"

#include <utility>

namespace heed {
namespace {

thread_local const CancellationScope* innermost = nullptr;

}  // namespace

CancellationScope::CancellationScope(std::function<bool()> is_cancelled)
    : is_cancelled_(std::move(is_cancelled)), around_(std::exchange(innermost, this)) {}

CancellationScope::~CancellationScope() { innermost = around_; }

void check_cancelled() {
  if (innermost && innermost->is_cancelled_()) throw Cancelled();
}

}  // namespace heed
