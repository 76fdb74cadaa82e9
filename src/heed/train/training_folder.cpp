#include "heed/train/training_folder.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "heed/base/error.h"
#include "heed/io/files.h"
#include "heed/models/lora_adapter.h"
#include "heed/models/model_folder.h"
#include "heed/train/training.h"

namespace heed::train {
namespace {

namespace fs = std::filesystem;

io::Descriptor open_folder(const std::string& path) {
  return io::Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// 0, or why not. is_training_in holds the lock for an instant; a run holds it to its end.
int lock_soon(int descriptor) {
  for (int tries = 0; tries < 20; ++tries) {
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return 0;
    if (errno != EWOULDBLOCK && errno != EINTR) return errno;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return EWOULDBLOCK;
}

}  // namespace

std::string TrainingFolder::newest_checkpoint() const {
  return io::is_file(checkpoint()) ? checkpoint() : previous_checkpoint();
}

bool TrainingFolder::has_checkpoint() const { return io::is_file(newest_checkpoint()); }

bool TrainingFolder::has_model() const { return io::is_file(models::weights_path(model_)); }

bool TrainingFolder::is_ours() const {
  if (io::is_folder(training())) return true;
  try {
    models::load_config(model_);
    return true;
  } catch (const Error&) {
    return false;
  }
}

bool TrainingFolder::is_empty() const {
  std::error_code error;
  const bool empty = fs::is_empty(model_, error);
  check_as(ErrorKind::usage, !error, model_, ": cannot be read: ", error.message());
  return empty;
}

void TrainingFolder::check_folder() const {
  std::error_code error;
  const fs::file_status status = fs::status(model_, error);
  if (status.type() == fs::file_type::not_found) return;
  check_as(ErrorKind::usage, status.type() != fs::file_type::none, model_,
           ": expected a folder for the model, found none: ", error.message());
  check_as(ErrorKind::usage, fs::is_directory(status), model_,
           ": expected a folder for the model, found a file");
  // The folder for training is the first thing that a run makes.
  check_as(ErrorKind::usage, io::is_folder(training()) || has_model() || is_empty(), model_,
           ": expected a new folder or one of a training run, found other contents");
}

void TrainingFolder::check_usable(RunMode mode) const {
  check_as(ErrorKind::usage, !model_.empty(),
           "`model`: expected a folder for the model, found an empty name");
  check_folder();
  if (has_checkpoint()) return;
  check_as(ErrorKind::usage, mode != RunMode::resume, model_,
           ": expected a training run to resume, found none");
  const bool is_replaced = mode == RunMode::overwrite && is_ours();
  check_as(ErrorKind::usage, !has_model() || is_replaced, model_,
           ": expected a checkpoint to resume from, found a model without one; move it away, "
           "fine-tune it with `from`, or replace it with `overwrite`");
}

// The checkpoints first, and the newest last of them: what is left, if the process dies here, is
// the whole run, a model, or the rest of one.
void TrainingFolder::remove_run() const {
  std::vector<std::string> files{previous_checkpoint(), next_checkpoint(), checkpoint(),
                                 models::adapter_path(model_)};
  for (const char* name : models::model_files) files.push_back(model_ + '/' + name);
  for (const char* name : text::Tokenizer::file_names()) files.push_back(model_ + '/' + name);
  for (const std::string& file : files) {
    std::error_code error;
    fs::remove(file, error);
    check(!error, file, ": cannot be removed: ", error.message());
  }
}

void TrainingFolder::check_in_place() const {
  check(io::is_folder(training()), model_,
        ": expected the folder of this run, found that it was moved or removed");
}

bool is_training_in(const TrainingFolder& folder) {
  const io::Descriptor descriptor = open_folder(folder.training());
  return descriptor.is_open() && ::flock(descriptor.number(), LOCK_SH | LOCK_NB) != 0 &&
         errno == EWOULDBLOCK;
}

TrainingLock::TrainingLock(const TrainingFolder& folder) {
  constexpr int max_tries = 100;
  // A run that failed may have removed the folder since it was opened.
  for (int tries = 0; !descriptor_.is_at(folder.training()); ++tries) {
    check(tries < max_tries, folder.training(), ": expected a folder, found that it vanishes");
    made_.create_folder(folder.training());
    descriptor_ = open_folder(folder.training());
    if (!descriptor_.is_open() && errno == ENOENT) continue;
    check(descriptor_.is_open(), folder.training(), ": cannot be opened: ", std::strerror(errno));
    lock(folder);
  }
  made_.create_folder(folder.snapshots());
}

void TrainingLock::lock(const TrainingFolder& folder) {
  const int error = lock_soon(descriptor_.number());
  if (error == EWOULDBLOCK) made_.keep();  // in use by the other process
  check(error != EWOULDBLOCK, folder.model(), ": another process is training in this folder");
  if (error != 0) missing_ = std::strerror(error);
}

}  // namespace heed::train
