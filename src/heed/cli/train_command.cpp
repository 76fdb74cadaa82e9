#include "heed/cli/train_command.h"

#include <unistd.h>

#include <filesystem>
#include <iostream>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/models/presets.h"
#include "heed/train/starting_model.h"
#include "heed/train/training.h"

namespace heed::cli {
namespace {

void apply(const std::map<std::string, std::string>& settings, train::Recipe& recipe) {
  // A preset averages in one way; whoever asks for the other does not want both.
  if (settings.contains("ema") && !settings.contains("average")) recipe.training.average = 1;
  for (const train::RecipeField& field : train::recipe_fields(recipe)) {
    const auto given = settings.find(field.name);
    if (given != settings.end()) field.set(given->second);
  }
}

train::FilePaths absolute(const train::FilePaths& files) {
  train::FilePaths paths;
  for (const auto& [role, path] : files) {
    paths[role] = std::filesystem::absolute(path).lexically_normal().string();
  }
  return paths;
}

train::Training new_training(const TrainOptions& options) {
  const train::TrainingKind& kind = train::kind_of(options.files);
  train::Training training{
      options.model, absolute(options.files),
      train::recipe_preset(options.preset.empty() ? kind.preset : options.preset)};
  training.recipe.model.kind = kind.model;
  // Unless it is told otherwise, a model that begins with another is built like it.
  const std::string from = train::path_of(training.files, "from");
  if (!from.empty()) train::take_network(training.recipe, from);
  // As Garg and others (2019) have it; --guided-alignment-weight says otherwise.
  if (options.files.contains("guided-alignment")) training.recipe.model.guided_alignment = 0.05f;
  apply(options.settings, training.recipe);
  return training;
}

// What is not said again stays as it was.
train::Training resumed_training(const TrainOptions& options) {
  const auto begun = train::begun_run(options.model);
  check_as(ErrorKind::usage, begun.has_value(), options.model,
           ": expected a training run to resume, found none");
  train::Training training{options.model, begun->files.paths, begun->recipe};
  for (const auto& [role, path] : absolute(options.files)) training.files[role] = path;
  apply(options.settings, training.recipe);
  return training;
}

}  // namespace

int train(const TrainOptions& options, const ProgressOptions& progress_options, std::ostream& out,
          std::ostream& log) {
  const InterruptGuard guard;
  TrainingProgress progress(log, progress_options);
  const train::TrainingResult result = train::train_model(
      options.resume ? resumed_training(options) : new_training(options), progress);
  if (result.end == train::RunEnd::interrupted) {
    log << "interrupted after update " << result.update
        << "; the same command again goes on from there\n";
    return 128 + interrupt_signal();
  }
  if (result.was_finished) {
    log << options.model << ": this run finished after update " << result.update
        << "; a larger --after goes on\n";
  }
  out << "weights " << result.weights_hash << std::endl;
  return 0;
}

namespace {

// The files of every kind of training, under the kind's name.
void add_files(CLI::App& app, const std::shared_ptr<TrainOptions>& options) {
  for (const train::TrainingKind& kind : train::training_kinds()) {
    for (const train::FileRole& role : kind.files) {
      if (app.get_option_no_throw("--" + role.name)) continue;  // several kinds have it
      app.add_option_function<std::string>(
             "--" + role.name,
             [options, name = role.name](const std::string& path) { options->files[name] = path; },
             role.description)
          ->type_name("FILE")
          ->group("Files: " + kind.name);
    }
  }
}

void add_settings(CLI::App& app, const std::shared_ptr<TrainOptions>& options) {
  train::Recipe shown = train::recipe_preset(train::training_kinds().front().preset);
  for (const train::RecipeField& field : train::recipe_fields(shown)) {
    const std::string other = field.other_name.empty() ? "" : ",--" + field.other_name;
    app.add_option_function<std::string>(
           "--" + field.name + other,
           [options, name = field.name](const std::string& value) {
             options->settings[name] = value;
           },
           field.description)
        ->type_name("VALUE")
        ->default_str(field.get())
        ->group("Settings, and what they are for tiny");
  }
}

// "tiny for text to text, gpt-mini for next token"
std::string default_presets() {
  std::string all;
  for (const train::TrainingKind& kind : train::training_kinds()) {
    all.append(all.empty() ? "" : ", ").append(kind.preset).append(" for ").append(kind.name);
  }
  return all;
}

}  // namespace

Command train_command() {
  auto options = std::make_shared<TrainOptions>();
  auto progress = std::make_shared<ProgressOptions>();
  Command command("train", "Train a model on files: which ones says what it learns.",
                  "heed train --source train.en --target train.de --valid-source val.en "
                  "--valid-target val.de --model my-model");
  CLI::App& app = *command.app();
  app.add_option("--model", options->model, "folder for the model")->required();
  app.add_option("--preset", options->preset,
                 "where all settings start from: " + models::preset_names() +
                     " (default: " + default_presets() + ")");
  add_files(app, options);
  add_settings(app, options);
  command.flag("--resume", options->resume,
               "go on with the run in the folder; what is not said again stays as it was");
  command.flag("--quiet", progress->quiet, "say nothing while all is well");
  command.accept_threads();
  command.accept_config_file();
  command.run([options, progress] {
    progress->is_terminal = ::isatty(STDERR_FILENO) != 0;
    return train(*options, *progress, std::cout, std::cerr);
  });
  return command;
}

}  // namespace heed::cli
