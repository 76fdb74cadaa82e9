#include "heed/train/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <type_traits>

#include "heed/base/error.h"
#include "heed/data/records.h"
#include "heed/io/json_fields.h"
#include "heed/models/config_fields.h"
#include "heed/train/recipe_fields.h"
#include "heed/train/snapshots.h"
#include "heed/train/text_metrics.h"
#include "heed/train/training_files.h"

namespace heed::train {
namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& expected,
                         std::string_view value) {
  fail(ErrorKind::usage, quote(name), ": expected ", expected, ", found ", value);
}

template <typename Number>
Number parse_number(const std::string& name, std::string_view text, Number min, Number max) {
  constexpr bool is_whole = std::is_integral_v<Number>;
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  // Written so that NaN is refused too.
  if (error != std::errc() || end != text.data() + text.size() || !(value >= min && value <= max)) {
    const bool is_open = max == std::numeric_limits<Number>::max();
    const std::string range =
        is_open ? fmt::format("of at least {}", min) : fmt::format("from {} to {}", min, max);
    refuse(name, (is_whole ? "a whole number " : "a number ") + range, text);
  }
  return value;
}

constexpr Choice<OptimizerKind> optimizers[]{{"adam", OptimizerKind::adam},
                                             {"adamw", OptimizerKind::adamw}};
constexpr Choice<ScheduleKind> schedules[]{{"inverse-sqrt", ScheduleKind::inverse_square_root},
                                           {"cosine", ScheduleKind::cosine},
                                           {"linear", ScheduleKind::linear},
                                           {"constant", ScheduleKind::constant}};
constexpr Choice<ClassWeights> class_weights[]{{"none", ClassWeights::none},
                                               {"balanced", ClassWeights::balanced}};
constexpr Choice<bool> yes_or_no[]{{"true", true}, {"false", false}};

constexpr double below_one = 0.999999;  // for rates that must not reach 1
constexpr Index max_shift = 1 << 13;    // in pixels, the side of the largest image

// Squares of gradients below about 1e-21 are 0 as floats. Adam then divides by epsilon alone, which
// must not be smaller than such a gradient.
constexpr double min_epsilon = 1e-20;

// Builds the table, one call for each setting.
class FieldList {
 public:
  std::vector<RecipeField> fields;
  std::string group;  // of the fields that follow

  template <typename Number>
  void number(const std::string& name, Number& value, Number min, const std::string& description,
              Number max = std::numeric_limits<Number>::max()) {
    add(
        name, description, [&value] { return fmt::format("{}", value); },
        [&value, name, min, max](std::string_view text) {
          value = parse_number(name, text, min, max);
        });
  }

  // The description lists the choices.
  template <typename Value>
  void choice(const std::string& name, Value& value, const std::string& description,
              std::span<const Choice<std::type_identity_t<Value>>> choices) {
    std::string all;
    for (const auto& one : choices) all.append(all.empty() ? "" : ", ").append(one.name);
    add(
        name, description + ": " + all,
        [&value, choices] {
          return std::string(std::ranges::find(choices, value, &Choice<Value>::value)->name);
        },
        [&value, choices, name, all](std::string_view text) {
          const auto choice = std::ranges::find(choices, text, &Choice<Value>::name);
          if (choice == choices.end()) refuse(name, "one of " + all, text);
          value = choice->value;
        });
  }
  template <typename Value>  // of an enum that has names
  void choice(const std::string& name, Value& value, const std::string& description) {
    choice(name, value, description, heed::choices<Value>());
  }

  void flag(const std::string& name, bool& value, const std::string& description) {
    choice(name, value, description, yes_or_no);
    fields.back().description = description;
    fields.back().is_flag = true;
  }

  void optional_flag(const std::string& name, std::optional<bool>& value, const std::string& off,
                     const std::string& description) {
    static constexpr Choice<std::optional<bool>> choices[]{
        {"", std::nullopt}, {"true", true}, {"false", false}};
    choice(name, value, description, choices);
    fields.back().description = description;
    fields.back().is_flag = true;
    fields.back().off = off;
  }

  void length(const std::string& name, RunLength& value,
              RunLength (*parse)(std::string_view, std::string_view),
              const std::string& description) {
    add(
        name, description, [&value] { return to_string(value); },
        [&value, name, parse](std::string_view text) { value = parse(text, quote(name)); });
  }

  // Names separated by commas, as data::parse_field_names reads them.
  void names(const std::string& name, std::string& value, data::FieldCount count,
             const std::string& description) {
    add(
        name, description, [&value] { return value; },
        [&value, name, count](std::string_view text) {
          data::parse_field_names(text, count, quote(name));
          value = text;
        });
  }

  void text(const std::string& name, std::string& value, const std::string& description) {
    add(
        name, description, [&value] { return value; },
        [&value](std::string_view text) { value = text; });
  }

  // One or several words that `check_words` accepts.
  void words(const std::string& name, std::string& value, void (*check_words)(std::string_view),
             const std::string& description) {
    add(
        name, description, [&value] { return value; },
        [&value, check_words](std::string_view text) {
          check_words(text);
          value = text;
        });
  }

  void betas(const std::string& name, OptimizerOptions& value, const std::string& description) {
    add(
        name, description, [&value] { return fmt::format("{},{}", value.beta1, value.beta2); },
        [&value, name](std::string_view text) {
          const std::size_t comma = text.find(',');
          if (comma == text.npos) refuse(name, "two numbers like 0.9,0.98", text);
          value.beta1 = parse_number(name, text.substr(0, comma), 0.0, below_one);
          value.beta2 = parse_number(name, text.substr(comma + 1), 0.0, below_one);
        });
  }

  // Of the field that was added last.
  void alias(std::vector<std::string> names) { fields.back().other_names = std::move(names); }
  void may_differ_on_resume() { fields.back().may_differ_on_resume = true; }

 private:
  void add(const std::string& name, const std::string& description,
           std::function<std::string()> get, std::function<void(std::string_view)> set) {
    fields.push_back({name, {}, description, std::move(get), std::move(set), group, false});
  }
};

void add_model_fields(FieldList& list, models::TransformerConfig& model) {
  for (const models::ConfigField& field : models::config_fields()) {
    if (field.option.empty()) continue;
    list.group = field.group;
    const std::string name(field.option), description(field.description);
    std::visit(
        [&]<typename Value>(models::ConfigMember<Value> member) {
          if constexpr (std::is_same_v<Value, bool>) {
            list.flag(name, member(model), description);
          } else if constexpr (std::is_enum_v<Value>) {
            list.choice(name, member(model), description);
          } else if constexpr (std::is_same_v<Value, Index> || std::is_same_v<Value, float>) {
            const auto [min, max] = models::option_range<Value>(field.range);
            list.number<Value>(name, member(model), min, description, max);
          }
        },
        field.member);
    list.alias({field.aliases.begin(), std::ranges::find(field.aliases, "")});
  }
}

void add_tokenizer_fields(FieldList& list, text::TokenizerOptions& tokenizer,
                          TrainingOptions& training) {
  list.number<int>("vocabulary", tokenizer.vocabulary, 5, "vocabulary size");
  list.alias({"vocab-size"});
  list.choice("subwords", tokenizer.subwords, "subword units");
  list.number<double>("bpe-dropout", training.bpe_dropout, 0,
                      "probability of skipping a BPE merge in training", below_one);
}

void add_optimizer_fields(FieldList& list, OptimizerOptions& optimizer, ScheduleOptions& schedule) {
  list.choice("optimizer", optimizer.kind, "update rule", optimizers);
  list.number<double>("learning-rate", schedule.peak, 0, "peak learning rate", 1e6);
  list.alias({"lr"});
  list.choice("schedule", schedule.kind, "learning rate schedule after the warm-up", schedules);
  list.number<Index>("warm-up", schedule.warm_up, 0, "linear warm-up steps");
  list.alias({"warmup-steps", "warmup", "lr-warmup", "warmup-updates"});
  list.number<double>("max-warm-up-share", schedule.max_warm_up_share, 0.001,
                      "maximum share of the run that the warm-up takes; 1 with --warm-up", 1);
  list.betas("betas", optimizer, "beta1 and beta2 of Adam");
  list.number<double>("epsilon", optimizer.epsilon, min_epsilon, "epsilon of Adam", 1);
  list.number<double>("weight-decay", optimizer.weight_decay, 0,
                      "weight decay of matrices (decoupled with adamw)", 1e3);
  list.number<double>("clip", optimizer.clip, 0, "maximum gradient norm; 0: no clipping", 1e9);
  list.alias({"clip-norm", "max-grad-norm"});
}

void add_training_fields(FieldList& list, TrainingOptions& training) {
  list.length("after", training.after, parse_run_length,
              "end of the run: 30e (epochs), 8000u (updates), 45s, 45m or 2h (time)");
  list.may_differ_on_resume();
  list.number<Index>("batch-tokens", training.batch_tokens, 2,
                     "batch size in tokens; of pairs, the larger of source and target");
  list.number<Index>("accumulate", training.accumulate, 1,
                     "batches per update (gradient accumulation)", 1'000'000);
  list.alias({"update-freq", "gradient-accumulation-steps"});
  list.number<Index>("max-length", training.max_length, 2,
                     "maximum length of an example in tokens; longer ones are left out");
  list.number<Index>("curriculum", training.curriculum, 0,
                     "curriculum learning: epochs that start with the shortest examples", 100'000);
  list.number<std::uint64_t>("seed", training.seed, 0, "random seed");
  list.flag("strict", training.strict, "stop when the loss diverges, without a rollback");
  list.may_differ_on_resume();
}

void add_validation_fields(FieldList& list, TrainingOptions& training) {
  list.length("validate-every", training.validate_every, parse_interval,
              "validation interval: 1e (epochs) or 500u (updates)");
  list.length("save-every", training.save_every, parse_interval, "checkpoint interval: 1e or 500u");
  list.number<double>("save-minutes", training.save_minutes, 0,
                      "maximum minutes between checkpoints; 0: no maximum", 1e6);
  list.may_differ_on_resume();
  list.words(
      "early-stopping", training.early_stopping,
      [](std::string_view name) {
        check_as(ErrorKind::usage, !name.empty(),
                 "`early_stopping`: expected none, loss or the name of a score, found nothing");
      },
      "early stopping by none, loss or a validation score like bleu, exact-match, accuracy");
  list.number<Index>("patience", training.patience, 1,
                     "validations without improvement before early stopping");
  list.number<Index>("average", training.average, 1,
                     "number of last checkpoints whose weights are averaged", max_snapshots);
  list.number<double>("ema", training.ema, 0,
                      "decay of an exponential moving average of the weights; 0: none", below_one);
  list.number<Index>("keep", training.keep, 0,
                     "snapshots of the weights for the explorer, spread over the run; 0: none",
                     max_snapshots);
  list.may_differ_on_resume();
  list.words(
      "validation-metrics", training.validation_metrics,
      [](std::string_view names) { parse_text_metrics(names, "`validation_metrics`"); },
      "scores of validation outputs, or none: " + choice_names<TextMetric>());
  list.choice("tokenize", training.tokenize, "BLEU tokenizer, as in sacreBLEU");
}

void add_data_fields(FieldList& list, TrainingOptions& training) {
  // What the data is decides whether a run may resume, however it is read.
  list.names("fields", training.fields, {2, 3},
             "columns of source,target, label,text[,text_pair] or prompt,answer: names, or numbers "
             "from 1");
  list.may_differ_on_resume();
  list.optional_flag("header", training.header, "no-header",
                     "the first row of .tsv and .csv is a header (default: recognised)");
  list.may_differ_on_resume();
  list.choice("class-weights", training.class_weights, "class weights in the loss", class_weights);
  list.number<Index>("shift", training.shift, 0,
                     "image augmentation: random crop, shifted by at most so many pixels",
                     max_shift);
  list.alias({"crop"});
  list.flag("flip", training.flip, "image augmentation: random horizontal flip");
}

void add_fine_tuning_fields(FieldList& list, TrainingOptions& training) {
  list.number<Index>("lora", training.lora, 0, "rank of a LoRA adapter to train; 0: full weights",
                     4096);
  list.text("freeze", training.freeze,
            "name prefixes of frozen parameters, like embedding,encoder.0");
}

}  // namespace

std::vector<RecipeField> recipe_fields(Recipe& recipe) {
  TrainingOptions& training = recipe.training;
  FieldList list;
  list.group = "Training";
  add_training_fields(list, training);
  list.group = "Optimizer and learning rate";
  add_optimizer_fields(list, training.optimizer, training.schedule);
  list.group = "Validation and checkpoints";
  add_validation_fields(list, training);
  list.group = "Tokenizer";
  add_tokenizer_fields(list, recipe.tokenizer, training);
  add_model_fields(list, recipe.model);
  list.group = "Data";
  add_data_fields(list, training);
  list.group = fine_tuning_group;
  add_fine_tuning_fields(list, training);
  return std::move(list.fields);
}

void set_fields(Recipe& recipe, const Settings& values) {
  const std::vector<RecipeField> fields = recipe_fields(recipe);
  for (const auto& [name, value] : values) {
    const auto field = std::ranges::find_if(fields, [&name = name](const RecipeField& one) {
      return one.name == name || std::ranges::count(one.other_names, name) > 0;
    });
    check_as(ErrorKind::usage, field != fields.end(), "recipe: expected a setting, found ", name);
    field->set(value);
  }
}

void customize(Recipe& preset, const Settings& values) {
  // `ema` replaces the averaging of a preset.
  if (values.contains("ema") && !values.contains("average")) preset.training.average = 1;
  if (values.contains("warm-up")) preset.training.schedule.max_warm_up_share = 1;
  if (values.contains("vocabulary")) preset.tokenizer.fit_vocabulary = false;
  const ProblemType problem = preset.model.problem_type;
  set_fields(preset, values);
  // Presets smooth labels of which one is right.
  const bool is_other_problem = preset.model.problem_type != problem;
  if (is_other_problem && !values.contains("label-smoothing")) preset.model.label_smoothing = 0;
}

namespace {

// The fields check ranges when they are set, so each value is set to itself.
void check_ranges(Recipe recipe) {
  for (const RecipeField& field : recipe_fields(recipe)) {
    if (const std::string value = field.get(); !value.empty()) field.set(value);
  }
}

void check_training(const TrainingOptions& training) {
  const bool ends = training.schedule.kind == ScheduleKind::cosine ||
                    training.schedule.kind == ScheduleKind::linear;
  check_as(ErrorKind::usage, !ends || training.after != RunLength{},
           "`schedule`: cosine and linear need an end; expected `after`, found none");
  check_as(ErrorKind::usage, training.average == 1 || training.ema == 0,
           "`average` and `ema`: expected one of them, found both");
  check_as(
      ErrorKind::usage, training.keep == 0 || training.lora == 0,
      "`keep`: cannot be combined with `lora`, whose checkpoints hold no weights but the adapter");
}

}  // namespace

void set_vocabulary(models::TransformerConfig& model, const text::Tokenizer& tokenizer) {
  const bool is_given = !model.family.empty() && model.vocabulary > 0;
  if (!is_given) model.vocabulary = tokenizer.size();
  check_as(ErrorKind::model, tokenizer.size() <= model.vocabulary,
           "tokenizer: expected at most the ", model.vocabulary,
           " pieces for which the base model has vectors, found ", tokenizer.size());
}

Index context_length(const Recipe& recipe) {
  const Index most = recipe.model.max_positions;
  return recipe.model.family.empty() ? most : std::min(most, recipe.training.max_length);
}

void validate(const TrainingOptions& options) {
  Recipe recipe;
  recipe.training = options;
  check_ranges(recipe);
  check_training(options);
}

void validate(const Recipe& recipe) {
  models::TransformerConfig model = recipe.model;
  if (model.family.empty()) model.vocabulary = recipe.tokenizer.vocabulary;
  models::validate(model);
  check_ranges(recipe);
  const TrainingOptions& training = recipe.training;
  const bool reads_lines = recipe.model.kind != models::ModelKind::language &&
                           recipe.model.kind != models::ModelKind::image_classifier;
  check_as(ErrorKind::usage, !reads_lines || training.max_length <= training.batch_tokens,
           "`max_length`: expected at most `batch_tokens`, which is ", training.batch_tokens,
           ", found ", training.max_length);
  check_as(ErrorKind::usage,
           !reads_lines || recipe.model.positions != models::Positions::learned ||
               training.max_length <= recipe.model.max_positions,
           "`max_length`: expected at most `max_positions`, which is ", recipe.model.max_positions,
           ", found ", training.max_length);
  check_as(ErrorKind::usage, models::has_text(recipe.model.kind) || training.curriculum == 0,
           "`curriculum`: expected 0 for images, which have one length, found ",
           training.curriculum);
  check_as(ErrorKind::usage,
           !training.flip || recipe.model.kind == models::ModelKind::image_classifier,
           "`flip`: expected images, found text");
  check_as(ErrorKind::usage,
           training.bpe_dropout == 0 || recipe.tokenizer.subwords == text::Subwords::bpe,
           "`bpe_dropout`: expected `subwords` bpe, found ", name_of(recipe.tokenizer.subwords));
  const Index truncate = recipe.model.truncate_source;
  check_as(ErrorKind::usage,
           truncate == 0 || (truncate >= 2 && truncate <= training.max_length &&
                             models::may_truncate_source(recipe.model.kind)),
           "`truncate_source`: expected 0, or 2 to `max_length`, which is ", training.max_length,
           ", for pairs and labelled lines, found ", truncate);
  check_training(training);
}

namespace {

// Of the settings that the model has from its base model.
constexpr const char* inherited_name = "inherited";

}  // namespace

std::string to_json(const Recipe& recipe) {
  Recipe copy = recipe;
  nlohmann::ordered_json json;
  for (const RecipeField& field : recipe_fields(copy)) json[field.name] = field.get();
  const auto inherited = nlohmann::ordered_json::parse(models::inherited_to_json(recipe.model));
  if (!inherited.empty()) json[inherited_name] = inherited;
  return json.dump();
}

Recipe recipe_from_json(std::string_view text, const std::string& source) {
  const auto json = io::JsonFields::parse(text, source);
  Recipe recipe;
  // Before there were other scores, BLEU was a setting of its own.
  if (json.has("validation-bleu") && json.text("validation-bleu") == "false") {
    recipe.training.validation_metrics = "none";
  }
  for (const RecipeField& field : recipe_fields(recipe)) {
    if (!json.has(field.name)) continue;  // newer than the run, and off by default
    // Older runs wrote the default out, whatever their task was.
    const bool is_default =
        field.name == "fields" && !json.has("header") && json.text(field.name) == "source,target";
    if (is_default) continue;
    try {
      field.set(json.text(field.name));
    } catch (const Error& error) {
      fail(ErrorKind::model, source, ": ", error.what());
    }
  }
  if (json.has(inherited_name)) {
    models::read_inherited(json.object(inherited_name), source, recipe.model);
  }
  return recipe;
}

void copy_inherited(models::TransformerConfig& to, const models::TransformerConfig& from) {
  for (const models::ConfigField& field : models::config_fields()) {
    if (models::is_inherited(field)) models::copy_setting(field, from, to);
  }
}

void copy_recipe_of_run(Recipe& recipe, const Recipe& saved) {
  copy_inherited(recipe.model, saved.model);
  Recipe copy = saved;
  const auto from = recipe_fields(copy), to = recipe_fields(recipe);
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (!to[i].may_differ_on_resume) to[i].set(from[i].get());
  }
}

void check_same_recipe(const Recipe& saved, const Recipe& recipe) {
  Recipe saved_copy = saved, copy = recipe;
  const auto before = recipe_fields(saved_copy), now = recipe_fields(copy);
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i].may_differ_on_resume) continue;
    check_as(ErrorKind::usage, before[i].get() == now[i].get(), quote(now[i].name), ": expected ",
             before[i].get(), ", with which this run was started, found ", now[i].get());
  }
  for (const models::ConfigField& field : models::config_fields()) {
    if (!models::is_inherited(field)) continue;
    check_as(ErrorKind::usage, models::is_same(field, saved.model, recipe.model),
             quote(std::string(field.json)), ": expected ", models::to_text(field, saved.model),
             ", with which this run was started, found ", models::to_text(field, recipe.model));
  }
}

}  // namespace heed::train
