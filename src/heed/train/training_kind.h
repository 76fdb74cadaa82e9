// A kind of training: the files that it reads, and who makes its task of them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/train/recipe.h"
#include "heed/train/training_run.h"

namespace heed::train {

// A file under the name that the command line gives it, without the dashes.
struct FileRole {
  std::string name;
  std::string description;
  bool is_required = true;
};

// Every kind can begin with what a model has learned.
inline const FileRole from_role{"from", "model to begin with, and whose tokenizer to take", false};

struct TrainingKind {
  std::string name;             // "text to text"
  models::ModelKind model;      // what it trains
  std::vector<FileRole> files;  // those that are required tell this kind from others
  std::string preset;           // the recipe, unless another is asked for
  // Reads the files. Refuses bad options (ErrorKind::usage) and bad files (ErrorKind::data).
  std::unique_ptr<TaskMaker> (*make)(const FilePaths& paths, const Recipe& recipe);
};

// The path of a role; empty when there is none.
inline std::string path_of(const FilePaths& paths, const std::string& role) {
  const auto found = paths.find(role);
  return found == paths.end() ? std::string() : found->second;
}

}  // namespace heed::train
