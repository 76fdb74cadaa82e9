// heed train: from files to a model folder.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "heed/cli/command.h"
#include "heed/cli/training_progress.h"
#include "heed/train/auto_recipe.h"

namespace heed::cli {

struct TrainOptions {
  train::FilePaths files;
  std::string model;
  std::string preset{train::auto_preset};
  train::Settings settings;  // those of the recipe that were given, by name
  bool resume = false;
  bool overwrite = false;
  bool resume_previous = false;        // from the checkpoint before the newest
  bool find_rate = false;              // a learning-rate range test in place of a run
  std::vector<std::string> axes = {};  // of a sweep: learning-rate=0.001,0.003
  bool json = false;                   // the result of these two as JSON
  bool with_plot = false;              // the table of rates is for a terminal
};

// Starts a run, or resumes the one in the model folder. The hash of the weights goes to `out`,
// everything else to `log`. A signal ends it with 128 + signal, after saving. A range test or a
// sweep prints its table to `out`.
int train(const TrainOptions& options, const ProgressOptions& progress, std::ostream& out,
          std::ostream& log);

Command train_command();

}  // namespace heed::cli
