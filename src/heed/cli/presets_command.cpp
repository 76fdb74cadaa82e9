#include "heed/cli/presets_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "heed/cli/training_progress.h"
#include "heed/models/presets.h"
#include "heed/train/recipe_fields.h"
#include "heed/train/task_types.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string task_of(const train::Recipe& recipe) {
  return std::ranges::find(train::task_types(), recipe.model.kind, &train::TaskType::model)->name;
}

// Whether the vocabulary has a size that is set: that of characters comes from the text.
bool has_vocabulary_size(const train::Recipe& recipe) {
  return models::has_text(recipe.model.kind) &&
         recipe.tokenizer.subwords != text::Subwords::character;
}

std::string vocabulary_of(const train::Recipe& recipe) {
  if (has_vocabulary_size(recipe)) return std::to_string(recipe.tokenizer.vocabulary);
  return models::has_text(recipe.model.kind) ? "characters" : "none";
}

constexpr char row_format[] = "{:<9} {:<26} {:>5}  {:>6}  {:>5}  {:>10}  {:>12}  {:>13}  {:>7}\n";

void print_table(std::ostream& out) {
  out << fmt::format(row_format, "preset", "task", "width", "layers", "heads", "vocabulary",
                     "batch tokens", "learning rate", "after");
  for (const std::string& name : models::preset_names()) {
    const train::Recipe recipe = train::recipe_preset(name);
    out << fmt::format(row_format, name, task_of(recipe), recipe.model.model_dim,
                       layers_text(recipe.model), recipe.model.num_heads, vocabulary_of(recipe),
                       recipe.training.batch_tokens, recipe.training.schedule.peak,
                       to_string(recipe.training.after));
  }
}

void print_objects(std::ostream& out) {
  for (const std::string& name : models::preset_names()) {
    const train::Recipe recipe = train::recipe_preset(name);
    Json object{{"name", name},
                {"task", task_of(recipe)},
                {"width", recipe.model.model_dim},
                {"encoder_layers", recipe.model.encoder_layers},
                {"decoder_layers", recipe.model.decoder_layers},
                {"heads", recipe.model.num_heads},
                {"vocabulary", nullptr},
                {"batch_tokens", recipe.training.batch_tokens},
                {"learning_rate", recipe.training.schedule.peak},
                {"after", to_string(recipe.training.after)}};
    if (has_vocabulary_size(recipe)) object["vocabulary"] = recipe.tokenizer.vocabulary;
    out << object.dump() << '\n';
  }
}

// As --config reads it, which takes a comma for the end of a value.
std::string quoted_list(const std::string& value) {
  return value.find(',') == value.npos ? value : '"' + value + '"';
}

void print_settings(train::Recipe recipe, std::ostream& out) {
  for (const train::RecipeField& field : train::recipe_fields(recipe)) {
    if (const std::string value = field.get(); !value.empty()) {
      out << field.name << " = " << quoted_list(value) << '\n';
    }
  }
}

}  // namespace

int presets(const PresetsOptions& options, std::ostream& out) {
  if (options.preset.empty()) {
    (options.json ? print_objects : print_table)(out);
  } else if (const train::Recipe recipe = train::recipe_preset(options.preset); options.json) {
    out << train::to_json(recipe) << '\n';
  } else {
    print_settings(recipe, out);
  }
  return 0;
}

Command presets_command() {
  auto options = std::make_shared<PresetsOptions>();
  Command command(
      "presets",
      "List the presets of `heed train`, or all settings of one.\n"
      "Training fits warm-up and vocabulary of a preset to the run. Without --preset it "
      "chooses\nthe settings for the data and the time (--preset auto).",
      "heed presets tiny");
  command.option("preset", options->preset, "the one whose settings are printed");
  command.group(option_group::output);
  command.flag("--json", options->json, "print one JSON object per line");
  command.run([options] { return presets(*options, std::cout); });
  return command;
}

}  // namespace heed::cli
