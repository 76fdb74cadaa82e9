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

namespace heed::train {
namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& expected,
                         std::string_view found) {
  fail(ErrorKind::usage, "--", name, ": expected ", expected, ", found ", found);
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

using metrics::BleuTokenizer, models::Choice, text::Subwords;

constexpr Choice<Subwords> subword_kinds[]{{"bpe", Subwords::bpe},
                                           {"unigram", Subwords::unigram},
                                           {"word", Subwords::word},
                                           {"char", Subwords::character},
                                           {"byte", Subwords::byte}};
constexpr Choice<OptimizerKind> optimizers[]{{"adam", OptimizerKind::adam},
                                             {"adamw", OptimizerKind::adamw}};
constexpr Choice<ScheduleKind> schedules[]{{"inverse-sqrt", ScheduleKind::inverse_square_root},
                                           {"cosine", ScheduleKind::cosine},
                                           {"linear", ScheduleKind::linear},
                                           {"constant", ScheduleKind::constant}};
constexpr Choice<ClassWeights> class_weights[]{{"none", ClassWeights::none},
                                               {"balanced", ClassWeights::balanced}};
constexpr Choice<BleuTokenizer> bleu_tokenizers[]{{"13a", BleuTokenizer::mteval_13a},
                                                  {"none", BleuTokenizer::none},
                                                  {"intl", BleuTokenizer::international},
                                                  {"char", BleuTokenizer::character}};
constexpr Choice<bool> yes_or_no[]{{"true", true}, {"false", false}};

constexpr double below_one = 0.999999;  // for rates that must not reach 1

template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

// Builds the list, one line for each setting.
class FieldList {
 public:
  std::vector<RecipeField> fields;

  template <typename Number>
  void number(const std::string& name, Number& value, Number min, const std::string& description,
              Number max = std::numeric_limits<Number>::max()) {
    fields.push_back({name, "", description, [&value] { return fmt::format("{}", value); },
                      [&value, name, min, max](std::string_view text) {
                        value = parse_number(name, text, min, max);
                      }});
  }

  template <typename Value>
  void choice(const std::string& name, Value& value, const std::string& description,
              std::span<const Choice<std::type_identity_t<Value>>> choices) {
    std::string all;
    for (const auto& one : choices) all.append(all.empty() ? "" : "|").append(one.name);
    fields.push_back({name, "", description + ": " + all,
                      [&value, choices] {
                        return std::string(
                            std::ranges::find(choices, value, &Choice<Value>::value)->name);
                      },
                      [&value, choices, name, all](std::string_view text) {
                        const auto found = std::ranges::find(choices, text, &Choice<Value>::name);
                        if (found == choices.end()) refuse(name, all, text);
                        value = found->value;
                      }});
  }
  template <typename Value>  // of the model's configuration, which has the names
  void choice(const std::string& name, Value& value, const std::string& description) {
    choice(name, value, description, models::choices<Value>());
  }

  void length(const std::string& name, RunLength& value,
              RunLength (*parse)(std::string_view, std::string_view),
              const std::string& description) {
    fields.push_back({name, "", description, [&value] { return to_string(value); },
                      [&value, name, parse](std::string_view text) { value = parse(text, name); }});
  }

  // Names with commas between them, as data::parse_field_names reads them.
  void names(const std::string& name, std::string& value, std::size_t count,
             const std::string& description) {
    fields.push_back({name, "", description, [&value] { return value; },
                      [&value, name, count](std::string_view text) {
                        data::parse_field_names(text, count, "--" + name);
                        value = text;
                      }});
  }

  void text(const std::string& name, std::string& value, const std::string& description) {
    fields.push_back({name, "", description, [&value] { return value; },
                      [&value](std::string_view text) { value = text; }});
  }

  void betas(const std::string& name, OptimizerOptions& value, const std::string& description) {
    fields.push_back({name, "", description,
                      [&value] { return fmt::format("{},{}", value.beta1, value.beta2); },
                      [&value, name](std::string_view text) {
                        const std::size_t comma = text.find(',');
                        if (comma == text.npos) refuse(name, "two numbers like 0.9,0.98", text);
                        value.beta1 = parse_number(name, text.substr(0, comma), 0.0, below_one);
                        value.beta2 = parse_number(name, text.substr(comma + 1), 0.0, below_one);
                      }});
  }
};

void add_model_fields(FieldList& list, models::TransformerConfig& model) {
  for (const models::ConfigField& field : models::config_fields()) {
    if (field.option.empty()) continue;
    const std::string name(field.option), description(field.description);
    const auto add = [&]<typename Value>(Value models::TransformerConfig::*member) {
      if constexpr (std::is_enum_v<Value>) {
        list.choice(name, model.*member, description);
      } else if constexpr (std::is_arithmetic_v<Value>) {
        const auto [min, max] = models::option_range<Value>(field.range);
        list.number<Value>(name, model.*member, min, description, max);
      }
    };
    std::visit(Overloaded{add, [](models::JsonConstant) {}}, field.member);
    list.fields.back().other_name = field.alias;
  }
}

void add_tokenizer_fields(FieldList& list, text::TokenizerOptions& tokenizer) {
  list.number<int>("vocabulary", tokenizer.vocabulary, 5, "pieces of the tokenizer");
  list.choice("subwords", tokenizer.subwords, "kind of pieces", subword_kinds);
}

void add_optimizer_fields(FieldList& list, OptimizerOptions& optimizer, ScheduleOptions& schedule) {
  list.choice("optimizer", optimizer.kind, "who moves the weights", optimizers);
  list.number<double>("learning-rate", schedule.peak, 0, "the highest of the schedule", 1e6);
  list.choice("schedule", schedule.kind, "of the learning rate; cosine and linear end at 0",
              schedules);
  list.number<Index>("warm-up", schedule.warm_up, 0, "updates until the highest rate");
  list.betas("betas", optimizer, "decay of Adam's means of gradients and of their squares");
  list.number<double>("epsilon", optimizer.epsilon, 0, "Adam's smallest divisor", 1);
  list.number<double>("weight-decay", optimizer.weight_decay, 0, "pull of matrices towards 0", 1e3);
  list.number<double>("clip", optimizer.clip, 0, "largest norm of the gradient; 0: any", 1e9);
}

void add_training_fields(FieldList& list, TrainingOptions& training) {
  list.number<Index>("batch-tokens", training.batch_tokens, 2,
                     "tokens of a batch, on its larger side");
  list.number<Index>("accumulate", training.accumulate, 1, "batches for one update");
  list.number<Index>("max-length", training.max_length, 2,
                     "tokens; pairs with a longer side are left out");
  list.number<double>("bpe-dropout", training.bpe_dropout, 0,
                      "share of merges left out at random, anew in every epoch; needs bpe",
                      below_one);
  list.length("validate-every", training.validate_every, parse_interval,
              "time between validations: 1e (epochs) or 500u (updates)");
  list.length("save-every", training.save_every, parse_interval,
              "time between checkpoints: 1e or 500u");
  list.choice("early-stopping", training.early_stopping, "stop when this no longer gets better",
              stopping_metrics);
  list.number<Index>("patience", training.patience, 1, "validations without a gain before that");
  list.number<Index>("average", training.average, 1, "average the weights of the last checkpoints",
                     1000);
  list.number<double>("ema", training.ema, 0, "decay of a moving average of the weights; 0: none",
                      below_one);
  list.choice("validation-bleu", training.validation_bleu, "translate when validating", yes_or_no);
  list.choice("tokenize", training.tokenize, "words of the validation BLEU", bleu_tokenizers);
  list.choice("class-weights", training.class_weights,
              "what a line of --labelled counts; balanced: a rare class more", class_weights);
  list.number<Index>("shift", training.shift, 0,
                     "pixels that images are moved by at random, at most, anew in every epoch");
  list.names("fields", training.fields, 2, "names of the two fields of --pairs");
  list.number<std::uint64_t>("seed", training.seed, 0, "of everything random");
  list.text("freeze", training.freeze,
            "with --from: names whose parameters stay as they are, like embedding,encoder.0");
  list.number<Index>("lora", training.lora, 0,
                     "with --from: learn only low-rank changes of this rank; 0: all weights", 4096);
  list.number<Index>("keep", training.keep, 0,
                     "weights of so many checkpoints stay, spread over the run, for looking back; "
                     "0: none",
                     1000);
  list.length("after", training.after, parse_run_length,
              "when to stop: 30e (epochs), 8000u (updates), 45m (minutes; no two such runs are the "
              "same to the bit)");
}

}  // namespace

std::vector<RecipeField> recipe_fields(Recipe& recipe) {
  FieldList list;
  add_model_fields(list, recipe.model);
  add_tokenizer_fields(list, recipe.tokenizer);
  add_optimizer_fields(list, recipe.training.optimizer, recipe.training.schedule);
  add_training_fields(list, recipe.training);
  return std::move(list.fields);
}

void validate(const Recipe& recipe) {
  models::TransformerConfig model = recipe.model;
  model.vocabulary = recipe.tokenizer.vocabulary;
  models::validate(model);
  const TrainingOptions& training = recipe.training;
  const bool reads_lines = recipe.model.kind != models::ModelKind::language &&
                           recipe.model.kind != models::ModelKind::image_classifier;
  check_as(ErrorKind::usage, !reads_lines || training.max_length <= training.batch_tokens,
           "--max-length: expected at most --batch-tokens, which is ", training.batch_tokens,
           ", found ", training.max_length);
  check_as(ErrorKind::usage,
           !reads_lines || recipe.model.positions != models::Positions::learned ||
               training.max_length <= recipe.model.max_positions,
           "--max-length: expected at most --max-positions, which is ", recipe.model.max_positions,
           ", found ", training.max_length);
  check_as(
      ErrorKind::usage, training.bpe_dropout == 0 || recipe.tokenizer.subwords == Subwords::bpe,
      "--bpe-dropout: expected --subwords bpe, found ", text::to_string(recipe.tokenizer.subwords));
  const bool ends = training.schedule.kind == ScheduleKind::cosine ||
                    training.schedule.kind == ScheduleKind::linear;
  check_as(ErrorKind::usage, !ends || training.after != RunLength{},
           "--schedule: cosine and linear need an end; expected --after, found none");
  check_as(ErrorKind::usage, training.average == 1 || training.ema == 0,
           "--average and --ema: expected one of them, found both");
  check_as(ErrorKind::usage, training.keep == 0 || training.lora == 0,
           "--keep: does not go with --lora, whose checkpoints hold changes and no weights");
  check_as(ErrorKind::usage,
           training.early_stopping != StoppingMetric::bleu || training.validation_bleu,
           "--early-stopping: bleu needs --validation-bleu true, found false");
}

std::string to_json(const Recipe& recipe) {
  Recipe copy = recipe;
  nlohmann::ordered_json json;
  for (const RecipeField& field : recipe_fields(copy)) json[field.name] = field.get();
  return json.dump();
}

Recipe recipe_from_json(std::string_view text, const std::string& source) {
  const auto json = io::JsonFields::parse(text, source);
  Recipe recipe;
  for (const RecipeField& field : recipe_fields(recipe)) {
    if (!json.has(field.name)) continue;  // younger than the run, and without effect by default
    try {
      field.set(json.text(field.name));
    } catch (const Error& error) {
      fail(ErrorKind::model, source, ": ", error.what());
    }
  }
  return recipe;
}

void check_same_recipe(const Recipe& begun, const Recipe& asked) {
  Recipe begun_copy = begun;
  Recipe asked_copy = asked;
  const auto before = recipe_fields(begun_copy);
  const auto now = recipe_fields(asked_copy);
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i].name == "keep" || now[i].name == "after") continue;
    check_as(ErrorKind::usage, before[i].get() == now[i].get(), "--", now[i].name, ": expected ",
             before[i].get(), ", with which this run was begun, found ", now[i].get());
  }
}

}  // namespace heed::train
