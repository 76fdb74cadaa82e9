#include "heed/cli/train_command.h"

#include <unistd.h>

#include <filesystem>
#include <iostream>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/base/parallel.h"
#include "heed/train/translation_training.h"

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

std::string absolute(const std::string& path) {
  return path.empty() ? path : std::filesystem::absolute(path).lexically_normal().string();
}

train::TranslationTraining new_training(const TrainOptions& options) {
  check_as(ErrorKind::usage, !options.source.empty() && !options.target.empty(),
           "heed train: expected --source and --target, found ",
           options.source.empty() && options.target.empty() ? "neither" : "one of them");
  train::TranslationTraining training{options.model, {}, train::recipe_preset(options.preset)};
  training.texts = {absolute(options.source), absolute(options.target),
                    absolute(options.valid_source), absolute(options.valid_target)};
  apply(options.settings, training.recipe);
  return training;
}

// What is not said again stays as it was.
train::TranslationTraining resumed_training(const TrainOptions& options) {
  const auto begun = train::begun_run(options.model);
  check_as(ErrorKind::usage, begun.has_value(), options.model,
           ": expected a training run to resume, found none");
  train::TranslationTraining training{options.model, train::translation_texts(begun->files),
                                      begun->recipe};
  const auto replace = [](std::string& path, const std::string& given) {
    if (!given.empty()) path = absolute(given);
  };
  replace(training.texts.source, options.source);
  replace(training.texts.target, options.target);
  replace(training.texts.valid_source, options.valid_source);
  replace(training.texts.valid_target, options.valid_target);
  apply(options.settings, training.recipe);
  return training;
}

}  // namespace

int train(const TrainOptions& options, const ProgressOptions& progress_options, std::ostream& out,
          std::ostream& log) {
  const InterruptGuard guard;
  TrainingProgress progress(log, progress_options);
  const train::TrainingResult result = train::train_translation(
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

Command train_command() {
  auto options = std::make_shared<TrainOptions>();
  auto progress = std::make_shared<ProgressOptions>();
  auto threads = std::make_shared<int>(0);
  Command command("train", "Train a model on two texts, line by line translations of each other.",
                  "heed train --source train.en --target train.de --valid-source val.en "
                  "--valid-target val.de --model my-model");
  CLI::App& app = *command.app();
  app.add_option("--source", options->source, "text to translate from, one sentence a line");
  app.add_option("--target", options->target, "its translation, line by line");
  app.add_option("--valid-source", options->valid_source, "held-out text, to watch the progress");
  app.add_option("--valid-target", options->valid_target, "its translation");
  app.add_option("--model", options->model, "folder for the model")->required();
  command.option("--preset", options->preset,
                 "where all settings below start from: tiny, small, base, demo");
  train::Recipe shown = train::recipe_preset(options->preset);
  for (const train::RecipeField& field : train::recipe_fields(shown)) {
    app.add_option_function<std::string>(
           "--" + field.name,
           [options, name = field.name](const std::string& value) {
             options->settings[name] = value;
           },
           field.description)
        ->type_name("VALUE")
        ->default_str(field.get());
  }
  command.flag("--resume", options->resume,
               "go on with the run in the folder; what is not said again stays as it was");
  command.flag("--quiet", progress->quiet, "say nothing while all is well");
  app.add_option("--threads", *threads,
                 "threads (default: OMP_NUM_THREADS, otherwise all processors)")
      ->check(CLI::PositiveNumber);
  command.accept_config_file();
  command.run([options, progress, threads] {
    if (*threads > 0) set_num_threads(*threads);
    progress->is_terminal = ::isatty(STDERR_FILENO) != 0;
    return train(*options, *progress, std::cout, std::cerr);
  });
  return command;
}

}  // namespace heed::cli
