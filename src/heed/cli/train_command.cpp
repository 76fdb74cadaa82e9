#include "heed/cli/train_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <limits>
#include <memory>
#include <sstream>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/cli/nearest_name.h"
#include "heed/cli/rate_report.h"
#include "heed/cli/sweep_report.h"
#include "heed/io/files.h"
#include "heed/models/presets.h"
#include "heed/text/lines.h"
#include "heed/train/base_model.h"
#include "heed/train/checkpoint.h"
#include "heed/train/fine_tuning.h"
#include "heed/train/recipe_fields.h"
#include "heed/train/task_types.h"
#include "heed/train/training.h"
#include "heed/train/training_folder.h"

namespace heed::cli {
namespace {

train::FilePaths absolute(const train::FilePaths& files) {
  train::FilePaths paths;
  for (const auto& [role, given] : files) {
    for (const std::string& path : given) {
      paths[role].push_back(path == text::standard_input
                                ? path
                                : std::filesystem::absolute(path).lexically_normal().string());
    }
  }
  return paths;
}

// By default a fine-tuned model has the architecture of its base model. A run that is resumed has
// it in its checkpoint, and the base model may be gone.
void copy_base_architecture(train::Recipe& recipe, const std::string& base_model,
                            const TrainOptions& options) {
  if (!io::is_folder(base_model) && !options.overwrite && !options.find_rate) {
    if (const auto saved = train::saved_run(options.model)) {
      return train::copy_architecture(recipe, saved->recipe.model);
    }
  }
  train::copy_architecture(recipe, base_model);
}

// Settings that would have no effect are refused.
void check_columns(const TrainOptions& options) {
  const bool has_columns = options.files.contains("pairs") || options.files.contains("labelled") ||
                           options.files.contains("prompts");
  for (const char* setting : {"fields", "header"}) {
    check_as(ErrorKind::usage, has_columns || !options.settings.contains(setting),
             train::quote(setting),
             ": expected `pairs`, `labelled` or `prompts`, found none of them");
  }
}

// A model of another family that nobody says how to train is trained further with care.
void fit_to_base(train::Recipe& recipe, const train::Settings& settings, bool is_automatic) {
  if (recipe.model.family.empty()) return;
  for (const char* setting : {"vocabulary", "subwords"}) {
    check_as(ErrorKind::usage, !settings.contains(setting), train::quote(setting),
             ": cannot be combined with `from`, whose tokenizer is used");
  }
  const auto lora = settings.find("lora");
  const bool with_lora = lora != settings.end() && lora->second != "0";
  if (is_automatic) train::fit_to_fine_tuning(recipe, with_lora);
  train::fit_max_length(recipe);
}

train::Training new_training(const TrainOptions& options) {
  const train::TaskType& type = train::task_type_of(options.files);
  check_columns(options);
  train::Settings settings = options.settings;
  // The weight of Garg and others (2019) is the default.
  if (options.files.contains("guided-alignment")) {
    settings.try_emplace("guided-alignment-weight", "0.05");
  }
  const bool is_automatic = options.preset == train::auto_preset;
  train::Training training{
      options.model, absolute(options.files),
      train::recipe_preset(is_automatic ? type.preset : options.preset),
      options.overwrite ? train::RunMode::overwrite : train::RunMode::start_or_resume};
  training.recipe.model.kind = type.model;
  const std::string base_model = train::path_of(training.files, train::base_model_role);
  if (!base_model.empty()) {
    copy_base_architecture(training.recipe, base_model, options);
    fit_to_base(training.recipe, settings, is_automatic);
  } else if (is_automatic) {
    training.automatic = settings;
  }
  train::customize(training.recipe, settings);
  return training;
}

// Files and settings that are not given again are those of the saved run.
train::Training resumed_training(const TrainOptions& options) {
  train::TrainingFolder(options.model).check_usable(train::RunMode::resume);
  const train::RunDescription saved = train::saved_run(options.model).value();
  train::Training training{options.model, saved.files.paths, saved.recipe, train::RunMode::resume};
  for (const auto& [role, paths] : absolute(options.files)) training.files[role] = paths;
  for (const auto& [role, paths] : training.files) {
    check_as(ErrorKind::usage,
             options.files.contains(role) || !std::ranges::count(paths, text::standard_input),
             train::quote(role), ": this run read standard input, which must be given again, like ",
             train::quote(role), " - < FILE");
  }
  train::customize(training.recipe, options.settings);
  return training;
}

int train_model(const TrainOptions& options, const ProgressOptions& progress_options,
                std::ostream& out, std::ostream& log) {
  TrainingProgress progress(log, progress_options);
  if (options.resume_previous) train::restore_previous_checkpoint(options.model);
  const bool is_resumed = options.resume || options.resume_previous;
  const train::TrainingResult result =
      train::train_model(is_resumed ? resumed_training(options) : new_training(options), progress);
  if (result.end == train::RunEnd::interrupted) {
    // The same command again would go back by one more checkpoint.
    log << interruption_text(result,
                             options.resume_previous ? "--resume" : "the same command again")
        << '\n';
    return 128 + interrupt_signal();
  }
  if (result.was_finished) {
    log << options.model << ": this run finished after update " << result.update
        << "; a larger --after resumes it\n";
  }
  out << "weights " << result.weights_hash << std::endl;
  return 0;
}

int find_rate(const TrainOptions& options, const ProgressOptions& progress_options,
              std::ostream& out, std::ostream& log) {
  TrainingProgress progress(log, progress_options);
  for (const char* setting : {"learning-rate", "schedule", "warm-up"}) {
    if (!options.settings.contains(setting)) continue;
    progress.on_warning(fmt::format("--{} is not used: the test raises the rate itself", setting));
  }
  const train::RateTest test = train::find_rate(new_training(options), progress);
  if (test.is_interrupted) {
    log << "interrupted; nothing was written\n";
    return 128 + interrupt_signal();
  }
  out << (options.json ? rate_json(test) : rate_table(test, options.with_plot)) << std::flush;
  return 0;
}

// "learning-rate=0.001,0.003"
train::SweepAxis parse_axis(const std::string& text) {
  const std::size_t equals = text.find('=');
  check_as(ErrorKind::usage, equals != text.npos && equals > 0,
           "--try: expected a setting and its values, like learning-rate=0.001,0.003, found ",
           text);
  train::SweepAxis axis{text.substr(0, equals), {}};
  axis.setting.erase(0, axis.setting.find_first_not_of('-'));
  std::istringstream values(text.substr(equals + 1));
  for (std::string value; std::getline(values, value, ',');) axis.values.push_back(value);
  return axis;
}

void check_setting(const std::string& name) {
  train::Recipe recipe;
  std::vector<std::string> names;
  for (const train::RecipeField& field : train::recipe_fields(recipe)) {
    names.push_back(field.name);
    names.insert(names.end(), field.other_names.begin(), field.other_names.end());
  }
  check_as(ErrorKind::usage, std::ranges::count(names, name) > 0, "--try: unknown setting ", name,
           did_you_mean(name, names));
}

std::vector<train::SweepRun> planned_runs(const TrainOptions& options) {
  std::vector<train::SweepAxis> axes;
  for (const std::string& text : options.axes) {
    axes.push_back(parse_axis(text));
    check_setting(axes.back().setting);
  }
  std::vector<train::SweepRun> runs = train::plan_sweep(new_training(options), axes);
  for (const auto& [setting, value] : runs.front().settings) {
    check_as(ErrorKind::usage, !options.settings.contains(setting), "--", setting,
             ": cannot be combined with --try ", setting);
  }
  return runs;
}

// How the data was understood is shown once.
std::unique_ptr<train::TrainingObserver> progress_of_run(const train::SweepRun& run,
                                                         std::size_t number, std::size_t count,
                                                         ProgressOptions options,
                                                         std::ostream& log) {
  if (!options.quiet) {
    log << fmt::format("run {} of {}: {}", number + 1, count, settings_text(run)) << std::endl;
  }
  options.shows_data = number == 0;
  return std::make_unique<TrainingProgress>(log, options);
}

void warn_of_differences(const train::SweepOutcome& outcome, std::ostream& log) {
  if (outcome.also_different.empty()) return;
  log << fmt::format("warning: the runs differ in {} too; --preset or these options fix them\n",
                     fmt::join(outcome.also_different, ", "));
}

int sweep(const TrainOptions& options, const ProgressOptions& progress_options, std::ostream& out,
          std::ostream& log) {
  const std::vector<train::SweepRun> runs = planned_runs(options);
  const train::SweepOutcome outcome = train::run_sweep(runs, [&](std::size_t number) {
    return progress_of_run(runs[number], number, runs.size(), progress_options, log);
  });
  if (outcome.interrupted) {
    log << fmt::format("interrupted in run {} of {}; the same command again resumes the sweep\n",
                       outcome.results.size() + 1, runs.size());
    return 128 + interrupt_signal();
  }
  warn_of_differences(outcome, log);
  out << (options.json ? sweep_json(runs, outcome) : sweep_table(runs, outcome)) << std::flush;
  check_as(ErrorKind::diverged, outcome.best.has_value(),
           "--try: expected a run that does not diverge, found none");
  return 0;
}

}  // namespace

int train(const TrainOptions& options, const ProgressOptions& progress, std::ostream& out,
          std::ostream& log) {
  check_as(ErrorKind::usage, !options.json || options.find_rate || !options.axes.empty(),
           "--json: expected --find-rate or --try too");
  const InterruptGuard guard;
  if (options.find_rate) return find_rate(options, progress, out, log);
  if (!options.axes.empty()) return sweep(options, progress, out, log);
  return train_model(options, progress, out, log);
}

namespace {

void add_file(CLI::App& app, const train::FileRole& role, const std::string& group,
              const std::shared_ptr<TrainOptions>& options) {
  if (app.get_option_no_throw("--" + role.name)) return;  // several tasks have it
  const std::string alias = role.other_name.empty() ? "" : ",--" + role.other_name;
  const auto set = [options, name = role.name](const std::vector<std::string>& paths) {
    options->files[name].assign(paths.begin(), paths.end());
  };
  app.add_option_function<std::vector<std::string>>("--" + role.name + alias, set, role.description)
      ->allow_extra_args(false)
      ->type_name(role.name == train::base_model_role ? "FOLDER" : "FILE")
      ->group(group);
}

void add_files(CLI::App& app, const std::shared_ptr<TrainOptions>& options) {
  for (const train::TaskType& type : train::task_types()) {
    const std::string group = "Files for " + type.name + " (preset " + type.preset + ")";
    for (const train::FileRole& role : type.files) {
      if (role.name != train::base_model_role) add_file(app, role, group, options);
    }
  }
}

void add_off_flag(CLI::App& app, const train::RecipeField& field, CLI::Option* on,
                  const std::shared_ptr<TrainOptions>& options) {
  const auto unset = [options, name = field.name] { options->settings[name] = "false"; };
  app.add_flag_callback("--" + field.off, unset, "the opposite of --" + field.name)
      ->group(field.group)
      ->excludes(on);
}

// Older names that users may have typed, left out of the help.
void add_old_settings(CLI::App& app, const std::shared_ptr<TrainOptions>& options) {
  const auto set = [options](const std::string& value) {
    check_as(ErrorKind::usage, value == "true" || value == "false",
             "--validation-bleu: expected true or false, found ", value);
    options->settings["validation-metrics"] = value == "true" ? "bleu" : "none";
  };
  app.add_option_function<std::string>("--validation-bleu", set, "")->group("");
}

// `--epochs 30` is `--after 30e`: a limit of the run under the name that other tools have for it.
void add_limit(CLI::App& app, const std::string& names, char unit, const std::string& description,
               const std::shared_ptr<TrainOptions>& options) {
  CLI::Option* after = app.get_option("--after");
  app.add_option_function<Index>(
         names,
         [options, unit](Index count) {
           std::string& limits = options->settings["after"];
           limits += (limits.empty() ? "" : ",") + std::to_string(count) + unit;
         },
         description)
      ->check(in_range(Range<Index>{1, std::numeric_limits<Index>::max()}))
      ->excludes(after)
      ->group(after->get_group());
}

std::string with_value(const train::RecipeField& field, bool is_automatic) {
  const std::string value = is_automatic && train::is_chosen(field.name) ? "auto" : field.get();
  return field.description + (value.empty() || field.is_flag ? "" : " [" + value + "]");
}

// The values in brackets are those of this preset.
void show_preset(CLI::App& app, std::string_view preset) {
  const bool is_automatic = preset == train::auto_preset;
  train::Recipe recipe =
      train::recipe_preset(is_automatic ? train::task_types().front().preset : preset);
  for (const train::RecipeField& field : train::recipe_fields(recipe)) {
    app.get_option("--" + field.name)->description(with_value(field, is_automatic));
  }
  app.description(
      fmt::format("Train a model. The files that are given decide the task.\n"
                  "A file option may be repeated: the files are read as one. - is standard input.\n"
                  "Values in brackets are those of the preset {}; `--preset NAME --help` shows "
                  "those of another.",
                  preset));
}

void add_settings(CLI::App& app, const std::shared_ptr<TrainOptions>& options) {
  const train::TaskType& first = train::task_types().front();
  train::Recipe recipe = train::recipe_preset(first.preset);
  for (const train::RecipeField& field : train::recipe_fields(recipe)) {
    if (field.group == train::fine_tuning_group) {
      const auto base =
          std::ranges::find(first.files, train::base_model_role, &train::FileRole::name);
      add_file(app, *base, field.group, options);
    }
    if (field.is_flag) {
      const auto set = [options, name = field.name] { options->settings[name] = "true"; };
      CLI::Option* on = app.add_flag_callback("--" + field.name, set);
      on->group(field.group);
      if (!field.off.empty()) add_off_flag(app, field, on, options);
      continue;
    }
    std::string names = "--" + field.name;
    for (const std::string& alias : field.other_names) names += ",--" + alias;
    app.add_option_function<std::string>(names,
                                         [options, name = field.name](const std::string& given) {
                                           options->settings[name] = given;
                                         })
        ->type_name("VALUE")
        ->group(field.group);
    if (field.name == "after") {
      add_limit(app, "--epochs", 'e', "the same as --after Ne", options);
      add_limit(app, "--max-updates,--max-steps", 'u', "the same as --after Nu", options);
    }
  }
}

CLI::Option* add_find_rate(CLI::App& app, const std::shared_ptr<TrainOptions>& options) {
  const auto set = [options, model = app.get_option("--model")] {
    options->find_rate = true;
    model->required(false);
  };
  return app
      .add_flag_callback("--find-rate", set,
                         "learning-rate range test: raise the rate from update to update, print "
                         "rates and losses, and suggest a --learning-rate; writes nothing")
      ->excludes(app.get_option("--overwrite"));
}

// Neither a range test nor a sweep resumes a run by its folder alone.
void add_tuning(Command& command, const std::shared_ptr<TrainOptions>& options) {
  CLI::App& app = *command.app();
  command.group("Tuning");
  CLI::Option* find_rate = add_find_rate(app, options);
  find_rate->group("Tuning");
  CLI::Option* sweep =
      command
          .repeatable("--try", options->axes,
                      "values of a setting, like learning-rate=0.001,0.003: train every "
                      "combination in a folder of its own, and compare them")
          ->type_name("NAME=VALUES")
          ->excludes(find_rate);
  for (CLI::Option* option : {find_rate, sweep}) {
    option->excludes(app.get_option("--resume"))->excludes(app.get_option("--resume-previous"));
  }
  command.flag("--json", options->json, "print the result of --find-rate or --try as JSON");
}

}  // namespace

Command train_command() {
  auto options = std::make_shared<TrainOptions>();
  auto progress = std::make_shared<ProgressOptions>();
  Command command("train", "",
                  "heed train --source train.en --target train.de --valid-source val.en "
                  "--valid-target val.de --model my-model");
  CLI::App& app = *command.app();
  app.get_formatter()->column_width(34);  // every option on one line
  app.add_option("--model", options->model, "folder for the model")
      ->required()
      ->type_name("FOLDER");
  app.add_option("--preset", options->preset,
                 fmt::format("values of all settings that are not given: {} (chosen for data and "
                             "time), {}",
                             train::auto_preset, fmt::join(models::preset_names(), ", ")));
  add_files(app, options);
  add_settings(app, options);
  add_old_settings(app, options);
  show_preset(app, options->preset);
  command.before_help([options, &app] { show_preset(app, options->preset); });
  CLI::Option* resume =
      command.flag("--resume", options->resume,
                   "resume the run in the folder; files and settings that are not given stay");
  CLI::Option* resume_previous =
      command.flag("--resume-previous", options->resume_previous,
                   "resume from the checkpoint before the newest, which may be damaged");
  command
      .flag("--overwrite", options->overwrite,
            "start over in the folder: replaces its run and its model")
      ->excludes(resume)
      ->excludes(resume_previous);
  command.flag("--quiet", progress->quiet, "print warnings and the result only");
  add_tuning(command, options);
  command.accept_threads();
  command.accept_config_file();
  command.run([options, progress] {
    progress->is_terminal = ::isatty(STDERR_FILENO) != 0;
    options->with_plot = ::isatty(STDOUT_FILENO) != 0;
    return train(*options, *progress, std::cout, std::cerr);
  });
  return command;
}

}  // namespace heed::cli
