#include "heed/cli/inspect_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "heed/io/files.h"
#include "heed/io/safetensors.h"
#include "heed/models/model_folder.h"
#include "heed/models/weight_files.h"
#include "heed/train/checkpoint.h"
#include "heed/train/training_folder.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

// The fields of config.json; ids of special tokens say nothing about the architecture.
Json architecture(const models::TransformerConfig& config) {
  const Json all = Json::parse(models::to_json(config));
  Json fields = Json::object();
  for (const auto& [name, value] : all.items()) {
    if (!name.ends_with("_token_id")) fields[name] = value;
  }
  return fields;
}

// How many numbers each part has: embedding, encoder, decoder ... A part is the first word of a
// name.
Json parameter_counts(const std::vector<nn::NamedTensor>& parameters) {
  Json parts = Json::object();
  Index total = 0;
  for (const nn::NamedTensor& parameter : parameters) {
    const std::string part = parameter.name.substr(0, parameter.name.find('.'));
    parts[part] = parts.value(part, Index{0}) + parameter.value.size();
    total += parameter.value.size();
  }
  parts["total"] = total;
  return parts;
}

Json tokenizer_summary(const std::string& folder) {
  if (!text::Tokenizer::is_in(folder)) return nullptr;
  const text::Tokenizer tokenizer = models::load_tokenizer(folder);
  return {{"subwords", tokenizer.algorithm()}, {"pieces", tokenizer.size()}};
}

// A damaged checkpoint is reported, and the rest of the model is still shown.
Json training_summary(const std::string& folder) {
  const train::TrainingFolder training(folder);
  if (!training.has_checkpoint()) return nullptr;
  try {
    const train::TrainingState state = train::Checkpoint::load_newest(training).run().state;
    Json summary{{"updates", state.update},
                 {"epochs", state.epoch},
                 {"target_tokens", state.target_tokens},
                 {"seconds", state.seconds},
                 {"finished", state.is_finished}};
    if (state.stopping.best) summary["best_validation"] = *state.stopping.best;
    return summary;
  } catch (const Error& error) {
    return {{"unreadable", error.what()}};
  }
}

// Weights that do not fit their checksum were refused when they were loaded.
std::string checksum_summary(const std::string& folder) {
  return std::ranges::all_of(models::weight_paths(folder), io::has_checksum) ? "ok" : "none";
}

std::string to_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_array()) return std::to_string(value.size());  // labels: how many
  return value.dump();
}

void print_table(const Json& report, std::ostream& out) {
  for (const auto& [part, fields] : report.items()) {
    if (!fields.is_object()) continue;
    out << part << '\n';
    for (const auto& [name, value] : fields.items()) {
      out << fmt::format("  {:<24} {:>12}\n", name, to_text(value));
    }
  }
  if (report["tokenizer"].is_null()) out << "tokenizer\n  none\n";
  out << "checksum " << report["checksum"].get<std::string>() << '\n';
  out << "weights " << report["weights"].get<std::string>() << '\n';
}

}  // namespace

int inspect(const InspectOptions& options, std::ostream& out) {
  const std::vector<nn::NamedTensor> parameters = models::load_parameters(options.model);
  const Json report{{"architecture", architecture(models::load_config(options.model))},
                    {"parameters", parameter_counts(parameters)},
                    {"tokenizer", tokenizer_summary(options.model)},
                    {"training", training_summary(options.model)},
                    {"checksum", checksum_summary(options.model)},
                    {"weights", models::weights_hash(parameters)}};
  if (options.json) {
    out << report.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  } else {
    print_table(report, out);
  }
  return 0;
}

Command inspect_command() {
  auto options = std::make_shared<InspectOptions>();
  Command command("inspect",
                  "Show the architecture, parameters, tokenizer and training state of a model.",
                  "heed inspect my-model");
  command.option("model", options->model, "model folder")->required()->type_name("FOLDER");
  command.group(option_group::output);
  command.flag("--json", options->json, "print one JSON object on one line");
  command.run([options] { return inspect(*options, std::cout); });
  return command;
}

}  // namespace heed::cli
