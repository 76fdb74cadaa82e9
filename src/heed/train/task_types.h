// The types of tasks: the files that each reads, the model that it trains, and its default recipe.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/train/recipe.h"
#include "heed/train/task.h"
#include "heed/train/training_files.h"

namespace heed::train {

struct FileRole {
  std::string name;  // also the name of its option
  std::string description;
  bool is_required = true;
  std::string other_name = {};  // of the option; may be empty
};

struct TaskType {
  std::string name;  // "translation"
  models::ModelKind model;
  std::vector<FileRole> files;  // those that are required tell the types apart
  std::string preset;           // the default recipe
  // Reads the files. Refuses bad options (ErrorKind::usage) and bad files (ErrorKind::data).
  std::unique_ptr<Task> (*make)(const FilePaths& files, const Recipe& recipe);
};

// The role of the pretrained model that a run is initialised from; every task has it.
inline constexpr const char* base_model_role = "from";

std::span<const TaskType> task_types();

// The type that reads these files. Refuses (ErrorKind::usage) files of no type or of two, and names
// those that are missing.
const TaskType& task_type_of(const FilePaths& files);

}  // namespace heed::train
