// From the files of a run to a task that is ready for its first update.
#pragma once

#include <memory>
#include <string>

#include "heed/train/checkpoint.h"
#include "heed/train/task.h"
#include "heed/train/training.h"
#include "heed/train/training_observer.h"

namespace heed::train {

// The recipe of a run on files, with the kind of model that these files decide. Refuses
// (ErrorKind::usage) files and settings that do not go together.
RunDescription describe_run(const Training& training);

// Reads the files, and completes the description: the hash of the data, and the recipe if it is
// chosen for them. `saved` is the run that is resumed; null when one is started.
std::unique_ptr<Task> read_task(const Training& training, RunDescription& run,
                                const RunDescription* saved, TrainingObserver& observer);

// Data, model and initial weights, those of the base model if the run has one. The tokenizer is
// that of `resumed_folder`; when the name is empty, the run is started.
void prepare_task(Task& task, const RunDescription& run, const std::string& resumed_folder);

// Refuses (ErrorKind::failed) batches that are too large for the memory. One stands for all: they
// have about the same size. With frozen parameters a batch may take less than what is counted.
void check_memory_for_batch(Task& task, const RunDescription& run);

// Tells the observer about the data and the size of the model.
void report_start(Task& task, const RunDescription& run, TrainingObserver& observer);

}  // namespace heed::train
