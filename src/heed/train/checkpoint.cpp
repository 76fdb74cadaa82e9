#include "heed/train/checkpoint.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/io/files.h"
#include "heed/io/json_fields.h"
#include "heed/train/recipe_fields.h"
#include "heed/train/training_folder.h"
#include "heed/train/weights.h"

namespace heed::train {
namespace {

using nlohmann::json;

constexpr const char* format_name = "heed-checkpoint-1";

// More than any run can reach, and far from the limits of the arithmetic.
constexpr Index max_updates = Index{1} << 40;
constexpr Index max_tokens = Index{1} << 60;

std::string to_json(const TrainingState& state) {
  json object{{"update", state.update},
              {"epoch", state.epoch},
              {"batch", state.batch},
              {"target_tokens", state.target_tokens},
              {"optimizer_steps", state.optimizer_steps},
              {"skipped_in_a_row", state.skipped_in_a_row},
              {"validated_update", state.validated_update},
              {"validations_without_gain", state.stopping.validations_without_gain},
              {"snapshots", state.snapshots.averaged},
              {"kept", state.snapshots.kept},
              {"previous_snapshots", state.previous_snapshots},
              {"rate_scale", state.rate_scale},
              {"rollbacks", state.rollbacks},
              {"diverged_update", state.diverged_update},
              {"seconds", state.seconds},
              {"is_finished", state.is_finished}};
  if (state.stopping.best) object["best"] = *state.stopping.best;
  return object.dump();
}

// Updates up to `last`, oldest first; none when an older checkpoint has no such list.
std::vector<Index> snapshots_from_json(const io::JsonFields& fields, const char* name, Index last,
                                       const std::string& source) {
  if (!fields.has(name)) return {};
  const std::vector<Index> updates = fields.integers(name, {.min = 0, .max = last});
  check_as(ErrorKind::model, std::ssize(updates) <= max_snapshots, source, ": ", name,
           ": expected at most ", max_snapshots, " updates, found ", updates.size());
  check_as(ErrorKind::model, std::ranges::is_sorted(updates, std::ranges::less_equal()), source,
           ": ", name, ": expected increasing updates, found others");
  return updates;
}

// Nothing but the number of batches of an epoch, which the task knows, is left to check.
TrainingState state_from_json(std::string_view text, const std::string& source) {
  const auto fields = io::JsonFields::parse(text, source);
  TrainingState state;
  state.update = fields.integer("update", {.min = 0, .max = max_updates});
  const auto count = [&](const char* name) {
    return fields.integer(name, {.min = 0, .max = state.update});
  };
  state.epoch = count("epoch");
  state.batch = fields.integer("batch", {.min = 0, .max = max_updates});
  state.target_tokens = fields.integer("target_tokens", {.min = 0, .max = max_tokens});
  state.optimizer_steps = count("optimizer_steps");
  state.skipped_in_a_row =
      fields.integer("skipped_in_a_row", {.min = 0, .max = max_skipped_in_a_row});
  state.validated_update = count("validated_update");
  state.stopping.validations_without_gain = count("validations_without_gain");
  if (fields.has("best")) state.stopping.best = fields.number("best");
  const auto snapshots = [&](const char* name) {
    return snapshots_from_json(fields, name, state.update, source);
  };
  state.snapshots = {.averaged = snapshots("snapshots"), .kept = snapshots("kept")};
  state.previous_snapshots = snapshots("previous_snapshots");
  state.rate_scale =
      fields.number_or("rate_scale", 1, {.min = std::numeric_limits<double>::min(), .max = 1});
  state.rollbacks = fields.integer_or("rollbacks", 0, {.min = 0, .max = max_rollbacks});
  state.diverged_update = fields.integer_or("diverged_update", 0, {.min = 0, .max = max_updates});
  state.seconds = fields.number("seconds", {.min = 0});
  state.is_finished = fields.boolean("is_finished");
  return state;
}

std::string to_json(const TrainingFiles& files) {
  json object = json::object();
  for (const auto& [role, paths] : files.paths) {
    if (paths.size() == 1) {
      object[role] = paths.front();
    } else {
      object[role] = std::vector<std::string>(paths);
    }
  }
  object["sha256"] = files.sha256;
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

TrainingFiles files_from_json(std::string_view text, const std::string& source) {
  const auto fields = io::JsonFields::parse(text, source);
  TrainingFiles files;
  for (const std::string& name : fields.names()) {
    if (name == "sha256") continue;
    std::string role = name;
    std::ranges::replace(role, '_', '-');  // as the first version wrote it
    if (fields.json()[name].is_array()) {
      const std::vector<std::string> paths = fields.texts(name);
      files.paths[role].assign(paths.begin(), paths.end());
    } else if (!fields.text(name).empty()) {
      files.paths[role] = fields.text(name);
    }
  }
  files.sha256 = fields.text("sha256");
  return files;
}

// Adam's means or squares under the names of their parameters.
Weights named_moments(Optimizer& optimizer, Tensor Optimizer::Moments::*which) {
  Weights named;
  for (std::size_t i = 0; i < optimizer.parameters().size(); ++i) {
    named.push_back({optimizer.parameters()[i].name, optimizer.moments()[i].*which});
  }
  return named;
}

}  // namespace

bool can_be_saved(Optimizer& optimizer, const MovingAverage* ema) {
  return !first_non_finite(optimizer.parameters()) &&
         !first_non_finite(named_moments(optimizer, &Optimizer::Moments::mean)) &&
         !first_non_finite(named_moments(optimizer, &Optimizer::Moments::square)) &&
         !(ema && first_non_finite(ema->weights()));
}

void save_checkpoint(const std::string& path, const RunDescription& run, Optimizer& optimizer,
                     const MovingAverage* ema) {
  WeightsWriter writer;
  writer.add("weights.", optimizer.parameters());
  writer.add("adam.mean.", named_moments(optimizer, &Optimizer::Moments::mean));
  writer.add("adam.square.", named_moments(optimizer, &Optimizer::Moments::square));
  if (ema) writer.add("ema.", ema->weights());
  writer.write(path, {{"format", format_name},
                      {"state", to_json(run.state)},
                      {"recipe", train::to_json(run.recipe)},
                      {"texts", to_json(run.files)},
                      {"environment", train::to_json(current_environment())}});
}

// A try that failed may have got past any of these steps.
void promote_next_checkpoint(const TrainingFolder& folder) {
  if (!io::is_file(folder.next_checkpoint())) return io::sync_folder(folder.training());
  if (io::is_file(folder.checkpoint())) {
    io::rename_file(folder.checkpoint(), folder.previous_checkpoint());
  }
  io::rename_file(folder.next_checkpoint(), folder.checkpoint());
}

void restore_previous_checkpoint(const TrainingFolder& folder) {
  const std::string previous = folder.previous_checkpoint();
  check_as(ErrorKind::usage, io::is_file(previous), previous,
           ": expected the checkpoint before the newest, found none");
  Checkpoint::load(previous);
  io::rename_file(previous, folder.checkpoint());
}

Checkpoint Checkpoint::load(const std::string& path) {
  io::SafetensorsFile file = load_checked(path);
  const auto entry = [&](const char* name) {
    const auto entry = file.metadata().find(name);
    check_as(ErrorKind::model, entry != file.metadata().end(), path, ": expected ", name,
             " in the metadata, found none");
    return entry->second;
  };
  check_as(ErrorKind::model, entry("format") == format_name, path, ": expected a checkpoint (",
           format_name, "), found ", entry("format"));
  RunDescription run{state_from_json(entry("state"), path + ": state"),
                     recipe_from_json(entry("recipe"), path + ": recipe"),
                     files_from_json(entry("texts"), path + ": texts")};
  std::optional<Environment> environment;
  if (file.metadata().contains("environment")) {
    environment = environment_from_json(entry("environment"), path + ": environment");
  }
  return Checkpoint(std::move(file), std::move(run), std::move(environment));
}

Checkpoint Checkpoint::load_newest(const TrainingFolder& folder) {
  const std::string path = folder.newest_checkpoint();
  try {
    return load(path);
  } catch (const Error& error) {
    if (path == folder.previous_checkpoint() || !io::is_file(folder.previous_checkpoint())) throw;
    fail(error.kind(), error.what(), "; `resume_previous` takes the checkpoint before it");
  }
}

void Checkpoint::restore(Optimizer& optimizer, MovingAverage* ema) const {
  Weights weights = optimizer.parameters();
  Weights means = named_moments(optimizer, &Optimizer::Moments::mean);
  Weights squares = named_moments(optimizer, &Optimizer::Moments::square);
  read_weights(file_, "weights.", weights);
  read_weights(file_, "adam.mean.", means);
  read_weights(file_, "adam.square.", squares);
  if (ema) read_weights(file_, "ema.", ema->weights());
  optimizer.set_num_steps(run_.state.optimizer_steps);
}

std::optional<RunDescription> saved_run(const std::string& model_folder) {
  const TrainingFolder folder(model_folder);
  if (!folder.has_checkpoint()) return std::nullopt;
  return Checkpoint::load_newest(folder).run();
}

}  // namespace heed::train
