#include "heed/train/sweep.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "heed/base/error.h"
#include "heed/io/files.h"
#include "heed/models/model_folder.h"
#include "heed/text/lines.h"
#include "heed/train/checkpoint.h"
#include "heed/train/early_stopping.h"
#include "heed/train/recipe_fields.h"
#include "heed/train/task_setup.h"
#include "heed/train/task_types.h"
#include "heed/train/training_folder.h"

namespace heed::train {
namespace {

constexpr std::size_t max_runs = 100;

// They decide how a run is measured, saved or read, and not what it learns.
constexpr std::string_view fixed_settings[]{
    "early-stopping", "fields", "header",   "keep",           "problem-type",      "save-every",
    "save-minutes",   "strict", "tokenize", "validate-every", "validation-metrics"};

const RecipeField& field_of(const std::vector<RecipeField>& fields, const std::string& name) {
  const auto field = std::ranges::find_if(fields, [&](const RecipeField& one) {
    return one.name == name || std::ranges::count(one.other_names, name) > 0;
  });
  check_as(ErrorKind::usage, field != fields.end(), "`try`: expected a setting, found ", name);
  check_as(ErrorKind::usage, std::ranges::count(fixed_settings, field->name) == 0,
           "`try`: expected a setting that changes what a run learns, found ", field->name);
  return *field;
}

// With the setting's own name, and values as it writes them: 1e-3 is 0.001.
SweepAxis normalize(const SweepAxis& axis, Recipe recipe) {
  const std::vector<RecipeField> fields = recipe_fields(recipe);
  const RecipeField& field = field_of(fields, axis.setting);
  check_as(ErrorKind::usage, !axis.values.empty(), "`try`: expected values of ", field.name,
           ", found none");
  SweepAxis normalized{field.name, {}};
  for (const std::string& value : axis.values) {
    field.set(value);
    const std::string same = field.get();
    check_as(ErrorKind::usage, !same.empty() && same.find('/') == same.npos,
             "`try`: expected values of ", field.name, " that can name a folder, found ", value);
    check_as(ErrorKind::usage, std::ranges::count(normalized.values, same) == 0,
             "`try`: expected other values of ", field.name, " each time, found ", value, " again");
    normalized.values.push_back(same);
  }
  return normalized;
}

std::vector<SweepAxis> normalize(std::span<const SweepAxis> axes, const Recipe& recipe) {
  std::vector<SweepAxis> normalized;
  for (const SweepAxis& axis : axes) {
    normalized.push_back(normalize(axis, recipe));
    const std::string& name = normalized.back().setting;
    check_as(ErrorKind::usage, std::ranges::count(normalized, name, &SweepAxis::setting) == 1,
             "`try`: expected ", name, " once, found it again");
  }
  return normalized;
}

std::size_t count_runs(std::span<const SweepAxis> axes) {
  std::size_t count = 1;
  for (const SweepAxis& axis : axes) {
    count *= axis.values.size();
    check_as(ErrorKind::usage, count <= max_runs, "`try`: expected at most ", max_runs,
             " combinations, found more");
  }
  return count;
}

void check_files(const FilePaths& files) {
  bool has_validation = false;
  for (const auto& [role, paths] : files) {
    has_validation |= role.starts_with("valid-");
    check_as(ErrorKind::usage, std::ranges::count(paths, text::standard_input) == 0, quote(role),
             ": expected a file, which every run of a sweep reads, found standard input");
  }
  check_as(ErrorKind::usage, has_validation,
           "`try`: expected validation data, by which the runs are compared, found none");
}

void check_folder(const std::string& path) {
  check_as(ErrorKind::usage, !path.empty(),
           "`model`: expected a folder for the runs of a sweep, found an empty name");
  const bool has_run = io::is_folder(TrainingFolder(path).training());
  check_as(ErrorKind::usage, !has_run && !io::is_file(models::weights_path(path)), path,
           ": expected a folder for the runs of a sweep, found a run or a model");
}

// A label has the same loss whatever the pieces of its text are.
void check_comparable(const Training& training, std::span<const SweepAxis> axes) {
  const models::ModelKind kind = task_type_of(training.files).model;
  const std::string measure = sweep_measure(training.recipe);
  if (kind == models::ModelKind::classifier || measure != "loss") return;
  for (const SweepAxis& axis : axes) {
    check_as(ErrorKind::usage, axis.setting != "vocabulary" && axis.setting != "subwords",
             "`try`: losses per token cannot be compared between vocabularies; expected "
             "`early_stopping` by a score, like bleu, found ",
             measure);
  }
}

// The values of one combination; the last axis changes fastest.
std::vector<std::pair<std::string, std::string>> combination(std::span<const SweepAxis> axes,
                                                             std::size_t number) {
  std::vector<std::pair<std::string, std::string>> settings(axes.size());
  for (std::size_t i = axes.size(); i > 0; --i) {
    const SweepAxis& axis = axes[i - 1];
    settings[i - 1] = {axis.setting, axis.values[number % axis.values.size()]};
    number /= axis.values.size();
  }
  return settings;
}

SweepRun make_run(const Training& training,
                  std::vector<std::pair<std::string, std::string>> settings) {
  SweepRun run{std::move(settings), training};
  std::string name;
  for (const auto& [setting, value] : run.settings) {
    name.append(name.empty() ? "" : ",").append(setting).append("=").append(value);
    if (run.training.automatic) (*run.training.automatic)[setting] = value;
  }
  run.training.model_folder += '/' + name;
  customize(run.training.recipe, {run.settings.begin(), run.settings.end()});
  describe_run(run.training);  // refuses what does not go together before anything is trained
  return run;
}

SweepResult result_of(const SweepRun& run, const TrainingResult& result) {
  return {read_log(TrainingFolder(run.training.model_folder).metrics()), result.weights_hash, {}};
}

SweepResult diverged_result(const SweepRun& run, const std::string& problem) {
  return {read_log(TrainingFolder(run.training.model_folder).metrics()), {}, problem};
}

std::optional<std::size_t> best_of(std::span<const SweepResult> results,
                                   const std::string& measure) {
  EarlyStopping comparison(measure, /*patience=*/1);
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const SweepResult& result = results[i];
    if (!result.problem.empty() || !result.log.validation) continue;
    if (comparison.observe(*result.log.validation)) best = i;
  }
  return best;
}

// The names of the settings that differ from those of the first run.
std::vector<std::string> different_settings(std::span<const SweepRun> runs) {
  std::set<std::string> axes;
  for (const auto& [setting, value] : runs.front().settings) axes.insert(setting);
  std::optional<RunDescription> first;
  std::vector<std::string> names;
  for (const SweepRun& run : runs) {
    std::optional<RunDescription> saved = saved_run(run.training.model_folder);
    if (!saved) continue;
    if (!first) first = saved;
    const auto expected = recipe_fields(first->recipe), found = recipe_fields(saved->recipe);
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found[i].get() == expected[i].get() || axes.contains(found[i].name)) continue;
      if (std::ranges::count(names, found[i].name) == 0) names.push_back(found[i].name);
    }
  }
  return names;
}

}  // namespace

std::vector<SweepRun> plan_sweep(const Training& training, std::span<const SweepAxis> axes) {
  check_as(ErrorKind::usage, !axes.empty(), "`try`: expected a setting, found none");
  check_files(training.files);
  check_folder(training.model_folder);
  const std::vector<SweepAxis> normalized = normalize(axes, training.recipe);
  check_comparable(training, normalized);
  std::vector<SweepRun> runs;
  const std::size_t count = count_runs(normalized);
  for (std::size_t i = 0; i < count; ++i) {
    runs.push_back(make_run(training, combination(normalized, i)));
  }
  return runs;
}

std::string sweep_measure(const Recipe& recipe) {
  const std::string& measure = recipe.training.early_stopping;
  return measure == "none" ? "loss" : measure;
}

SweepOutcome run_sweep(std::span<const SweepRun> runs, const ObserverOf& observer_of) {
  SweepOutcome outcome;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::unique_ptr<TrainingObserver> observer = observer_of(i);
    try {
      const TrainingResult result = train_model(runs[i].training, *observer);
      if (result.end == RunEnd::interrupted) {
        outcome.interrupted = result;
        return outcome;
      }
      outcome.results.push_back(result_of(runs[i], result));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::diverged) throw;
      outcome.results.push_back(diverged_result(runs[i], error.what()));
    }
  }
  outcome.best = best_of(outcome.results, sweep_measure(runs.front().training.recipe));
  if (runs.front().training.automatic) outcome.also_different = different_settings(runs);
  return outcome;
}

}  // namespace heed::train
