#include "heed/train/checkpoint.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/io/json_fields.h"
#include "heed/train/recipe_fields.h"
#include "heed/train/training_folder.h"
#include "heed/train/weights.h"

namespace heed::train {
namespace {

using nlohmann::json;

constexpr const char* format_name = "heed-checkpoint-1";

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
              {"seconds", state.seconds},
              {"is_finished", state.is_finished}};
  if (state.stopping.best) object["best"] = *state.stopping.best;
  return object.dump();
}

TrainingState state_from_json(std::string_view text, const std::string& source) {
  const auto fields = io::JsonFields::parse(text, source);
  const auto count = [&](const char* name) { return fields.integer(name, {.min = 0}); };
  TrainingState state;
  state.update = count("update");
  state.epoch = count("epoch");
  state.batch = count("batch");
  state.target_tokens = count("target_tokens");
  state.optimizer_steps = count("optimizer_steps");
  state.skipped_in_a_row = count("skipped_in_a_row");
  state.validated_update = count("validated_update");
  state.stopping.validations_without_gain = count("validations_without_gain");
  if (fields.has("best")) state.stopping.best = fields.number("best");
  state.snapshots.averaged = fields.integers("snapshots", {.min = 0});
  // Older checkpoints have no such list.
  if (fields.has("kept")) state.snapshots.kept = fields.integers("kept", {.min = 0});
  state.seconds = fields.number("seconds", {.min = 0});
  state.is_finished = fields.boolean("is_finished");
  return state;
}

std::string to_json(const TrainingFiles& files) {
  json object(files.paths);
  object["sha256"] = files.sha256;
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

TrainingFiles files_from_json(std::string_view text, const std::string& source) {
  const auto fields = io::JsonFields::parse(text, source);
  TrainingFiles files;
  for (const std::string& name : fields.names()) {
    if (name == "sha256" || fields.text(name).empty()) continue;
    std::string role = name;
    std::ranges::replace(role, '_', '-');  // as the first version wrote it
    files.paths[role] = fields.text(name);
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
                      {"texts", to_json(run.files)}});
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
  return Checkpoint(std::move(file), std::move(run));
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
  return Checkpoint::load(folder.checkpoint()).run();
}

}  // namespace heed::train
