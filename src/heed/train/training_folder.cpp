#include "heed/train/training_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "heed/base/error.h"
#include "heed/io/files.h"

namespace heed::train {

bool TrainingFolder::has_checkpoint() const { return io::is_file(checkpoint()); }

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
           ": expected a new folder or one that a training run was begun in, found other contents");
}

void TrainingFolder::create() const {
  io::create_folder(training());
  io::create_folder(snapshots());
}

TrainingLock::TrainingLock(const TrainingFolder& folder)
    : descriptor_(::open(folder.training().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  check(descriptor_ >= 0, folder.training(), ": cannot be opened: ", std::strerror(errno));
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    ::close(descriptor_);
    fail(ErrorKind::failed, folder.model(), ": another process is training in this folder");
  }
}

TrainingLock::~TrainingLock() { ::close(descriptor_); }

}  // namespace heed::train
