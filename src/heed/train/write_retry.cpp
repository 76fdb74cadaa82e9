#include "heed/train/write_retry.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <thread>

#include "heed/base/error.h"
#include "heed/train/training_observer.h"

namespace heed::train {
namespace {

using std::chrono::milliseconds;

// How soon a pause sees that the observer wants to stop.
constexpr milliseconds step{100};

// What went wrong; nothing when all is written. Other errors than those of files leave as they are.
std::optional<std::string> failure_of(const std::function<void()>& write) {
  try {
    write();
    return std::nullopt;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::failed) throw;
    return error.what();
  } catch (const std::filesystem::filesystem_error& error) {
    return error.what();
  }
}

// False: the observer wants to stop.
bool pause(milliseconds time, TrainingObserver& observer) {
  for (; time.count() > 0; time -= std::min(time, step)) {
    if (observer.should_stop()) return false;
    std::this_thread::sleep_for(std::min(time, step));
  }
  return !observer.should_stop();
}

// Not so when the system cannot say.
bool is_gone(const std::string& folder) {
  std::error_code ignored;
  return std::filesystem::status(folder, ignored).type() == std::filesystem::file_type::not_found;
}

}  // namespace

void retry_write(const std::string& folder, const RetryOptions& options, TrainingObserver& observer,
                 const std::function<void()>& write) {
  std::optional<std::string> failure = failure_of(write);
  if (failure && !is_gone(folder)) {
    const std::chrono::duration<double> limit = options.limit;
    observer.on_warning(fmt::format("{}; trying again for {} seconds", *failure, limit.count()));
    milliseconds waited{0};
    while (failure && waited < options.limit && pause(options.interval, observer)) {
      waited += options.interval;
      failure = failure_of(write);
    }
  }
  if (failure) fail(ErrorKind::failed, *failure);
}

}  // namespace heed::train
