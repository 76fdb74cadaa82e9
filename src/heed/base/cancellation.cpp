#include "heed/base/cancellation.h"

#include <utility>

namespace heed {
namespace {

thread_local const std::stop_token* current_token = nullptr;

}  // namespace

CancellationScope::CancellationScope(std::stop_token token)
    : token_(std::move(token)), outer_(std::exchange(current_token, &token_)) {}

CancellationScope::~CancellationScope() { current_token = outer_; }

void throw_if_cancelled() {
  if (current_token != nullptr && current_token->stop_requested()) throw Cancelled();
}

}  // namespace heed
