// heed train: from two texts to a model folder.
#pragma once

#include <iosfwd>
#include <map>
#include <string>

#include "heed/cli/command.h"
#include "heed/cli/training_progress.h"

namespace heed::cli {

struct TrainOptions {
  std::string source, target, valid_source, valid_target;  // text files
  std::string model;
  std::string preset = "tiny";
  std::map<std::string, std::string> settings;  // those of the recipe that were given, by name
  bool resume = false;
};

// Trains, or goes on with the run in the model folder. The hash of the weights goes to `out`,
// everything else to `log`. A signal ends it with 128 + signal, after saving.
int train(const TrainOptions& options, const ProgressOptions& progress, std::ostream& out,
          std::ostream& log);

Command train_command();

}  // namespace heed::cli
