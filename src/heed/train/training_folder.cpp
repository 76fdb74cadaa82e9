#include "heed/train/training_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "heed/base/error.h"
#include "heed/io/files.h"

namespace heed::train {
namespace {

int open_folder(const std::string& path) {
  return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

// is_training_in holds the lock for an instant; a run holds it to its end.
bool lock_soon(int descriptor) {
  for (int tries = 0; tries < 20; ++tries) {
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace

std::string TrainingFolder::newest_checkpoint() const {
  return io::is_file(checkpoint()) ? checkpoint() : previous_checkpoint();
}

bool TrainingFolder::has_checkpoint() const { return io::is_file(newest_checkpoint()); }

void TrainingFolder::check_usable() const {
  std::error_code error;
  const auto status = std::filesystem::status(model_, error);
  if (status.type() == std::filesystem::file_type::not_found) return;
  check_as(ErrorKind::usage, std::filesystem::is_directory(status), model_,
           ": expected a folder for the model, found a file");
  // The folder for training is the first thing that a run makes.
  const bool is_ours = io::is_folder(training());
  const bool is_empty = std::filesystem::is_empty(model_, error) && !error;
  check_as(ErrorKind::usage, is_ours || is_empty, model_,
           ": expected a new folder or one of a training run, found other contents");
}

void TrainingFolder::create() const {
  io::create_folder(training());
  io::create_folder(snapshots());
}

bool is_training_in(const TrainingFolder& folder) {
  const int descriptor = open_folder(folder.training());
  if (descriptor < 0) return false;
  const bool is_locked = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(descriptor);
  return is_locked;
}

TrainingLock::TrainingLock(const TrainingFolder& folder)
    : descriptor_(open_folder(folder.training())) {
  check(descriptor_ >= 0, folder.training(), ": cannot be opened: ", std::strerror(errno));
  if (!lock_soon(descriptor_)) {
    ::close(descriptor_);
    fail(ErrorKind::failed, folder.model(), ": another process is training in this folder");
  }
}

TrainingLock::~TrainingLock() { ::close(descriptor_); }

}  // namespace heed::train
