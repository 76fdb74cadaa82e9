#include "heed/models/family_fields.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/printable.h"
#include "heed/models/config_fields.h"

namespace heed::models::families {
namespace {

using io::JsonFields;
using nlohmann::ordered_json;
using text::SpecialTokens;

constexpr io::IntegerRange some{.min = 1, .max = 1 << 24};
constexpr io::NumberRange any_number{-1e18, 1e18}, positive{1e-30, 1e18};

bool is_null(const JsonFields& json, const std::string& key) {
  return json.json().contains(key) && !json.has(key);
}

template <typename... Parts>
void require(bool ok, const JsonFields& json, const std::string& key, const Parts&... parts) {
  check_as(ErrorKind::model, ok, json.place(key), ": ", parts...);
}

std::string to_text(const nlohmann::json& value) {
  return excerpt(value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

Config network_of(Config config) {
  config.dropout = 0;
  config.label_smoothing = 0;
  config.tokens = {.pad = SpecialTokens::none,
                   .unknown = SpecialTokens::none,
                   .begin = SpecialTokens::none,
                   .ends = {},
                   .decoder_start = SpecialTokens::none};
  config.prepends_begin = false;
  config.freezes_padding = true;
  return config;
}

Index head_dim(const Config& config) {
  return config.head_dim > 0 ? config.head_dim : config.model_dim / config.num_heads;
}

FamilyField size(std::string key, Index Config::*member, Index missing) {
  return {[=](const JsonFields& json, Config& config) {
            config.*member = json.integer_or(key, missing, some);
          },
          [=](ordered_json& json, const Config& config) { json[key] = config.*member; }};
}

FamilyField size_or_null(std::string key, Index Config::*member, Index missing) {
  return {[=](const JsonFields& json, Config& config) {
            config.*member = is_null(json, key) ? 0 : json.integer_or(key, missing, some);
          },
          [=](ordered_json& json, const Config& config) {
            if (config.*member > 0) json[key] = config.*member;
          }};
}

FamilyFields join(FamilyFields a, const FamilyFields& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

FamilyField embedding_size(const std::string& key, Index missing) {
  return {[=](const JsonFields& json, Config& config) {
            const Index width =
                is_null(json, key)
                    ? 0
                    : json.integer_or(key, missing > 0 ? missing : config.model_dim, some);
            config.embedding_dim = width == config.model_dim ? 0 : width;
          },
          [=](ordered_json& json, const Config& config) { json[key] = embedding_width(config); }};
}

FamilyField positions_after_pad(Index missing) {
  const std::string key = "max_position_embeddings";
  return {[=](const JsonFields& json, Config& config) {
            config.position_offset = config.tokens.pad + 1;
            const Index rows = json.integer_or(key, missing, some);
            require(rows > config.position_offset, json, key, "expected more than the ",
                    config.position_offset, " rows before the first position, found ", rows);
            config.max_positions = rows - config.position_offset;
          },
          [=](ordered_json& json, const Config& config) {
            json[key] = config.max_positions + config.position_offset;
          }};
}

namespace {

FamilyField number_within(std::string key, float Config::*member, float missing,
                          io::NumberRange range) {
  return {[=](const JsonFields& json, Config& config) {
            config.*member = static_cast<float>(json.number_or(key, missing, range));
          },
          [=](ordered_json& json, const Config& config) { json[key] = shortest(config.*member); }};
}

}  // namespace

FamilyField number(std::string key, float Config::*member, float missing) {
  return number_within(std::move(key), member, missing, {.min = 0, .max = 1e18});
}

FamilyField probability(std::string key, float Config::*member, float missing) {
  return number_within(std::move(key), member, missing, {.min = 0, .max = 0.99});
}

FamilyField number_or_null(std::string key, float Config::*member, float missing) {
  return {[=](const JsonFields& json, Config& config) {
            const double number = json.number_or(key, missing, any_number);
            config.*member = is_null(json, key) ? 0 : static_cast<float>(number);
          },
          [=](ordered_json& json, const Config& config) {
            const float number = config.*member;
            json[key] = number == 0 ? ordered_json() : ordered_json(shortest(number));
          }};
}

FamilyField flag(std::string key, bool Config::*member, bool missing) {
  return {[=](const JsonFields& json, Config& config) {
            config.*member = json.boolean_or(key, missing);
          },
          [=](ordered_json& json, const Config& config) { json[key] = config.*member; }};
}

FamilyField only(std::string key, nlohmann::json value) {
  return {[=](const JsonFields& json, Config&) {
            if (!json.has(key)) return;
            const nlohmann::json& found = json.json().at(key);
            require(found == value, json, key, "expected ", to_text(value), ", found ",
                    to_text(found));
          },
          [](ordered_json&, const Config&) {}};
}

namespace {

constexpr std::array activations{Choice{"gelu", Activation::gelu},
                                 Choice{"gelu_new", Activation::gelu_tanh},
                                 Choice{"gelu_fast", Activation::gelu_tanh},
                                 Choice{"gelu_pytorch_tanh", Activation::gelu_tanh},
                                 Choice{"quick_gelu", Activation::quick_gelu},
                                 Choice{"silu", Activation::silu},
                                 Choice{"swish", Activation::silu},
                                 Choice{"relu", Activation::relu}};

Activation activation_named(const std::string& name) {
  return std::ranges::find(activations, name, &Choice<Activation>::name)->value;
}

// The family's own name of the activation, if there is one.
std::string_view activation_name(Activation activation, const std::string& preferred) {
  if (activation == activation_named(preferred)) return preferred;
  return std::ranges::find(activations, activation, &Choice<Activation>::value)->name;
}

}  // namespace

FamilyField activation(std::string key, std::string missing, Activation Config::*member) {
  return {[=](const JsonFields& json, Config& config) {
            config.*member = activation_named(
                json.choice_or(key, missing,
                               {"gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh", "quick_gelu",
                                "silu", "swish", "relu"}));
          },
          [=](ordered_json& json, const Config& config) {
            json[key] = activation_name(config.*member, missing);
          }};
}

FamilyField tied(bool missing, Tying untied) {
  return {[=](const JsonFields& json, Config& config) {
            config.tying = json.boolean_or("tie_word_embeddings", missing) ? Tying::all : untied;
          },
          [](ordered_json& json, const Config& config) {
            json["tie_word_embeddings"] = config.tying == Tying::all;
          }};
}

FamilyField scaled_embedding(bool missing) {
  return {[=](const JsonFields& json, Config& config) {
            config.embedding_scale.reset();
            if (!json.boolean_or("scale_embedding", missing)) config.embedding_scale = 1.0F;
          },
          [](ordered_json& json, const Config& config) {
            json["scale_embedding"] = !config.embedding_scale.has_value();
          }};
}

FamilyField attention_bias(std::string key, bool missing, AttentionBias with,
                           AttentionBias without) {
  return {
      [=](const JsonFields& json, Config& config) {
        config.attention_bias = json.boolean_or(key, missing) ? with : without;
      },
      [=](ordered_json& json, const Config& config) { json[key] = config.attention_bias == with; }};
}

namespace {

constexpr io::IntegerRange token_id{.min = SpecialTokens::none, .max = 1 << 24};

void read_id(const JsonFields& json, const std::string& key, int missing, int& id) {
  id = is_null(json, key) ? SpecialTokens::none
                          : static_cast<int>(json.integer_or(key, missing, token_id));
}

void read_ids(const JsonFields& json, const std::string& key, std::vector<int>& ids) {
  if (!json.json().contains(key)) return;
  ids.clear();
  if (is_null(json, key)) return;
  if (!json.json().at(key).is_array()) {
    return ids.push_back(static_cast<int>(json.integer(key, token_id)));
  }
  for (const auto id : json.integers(key, token_id)) ids.push_back(static_cast<int>(id));
}

ordered_json json_of_id(int id) {
  return id == SpecialTokens::none ? ordered_json() : ordered_json(id);
}

ordered_json json_of_ids(const std::vector<int>& ids) {
  if (ids.empty()) return nullptr;
  return ids.size() == 1 ? ordered_json(ids.front()) : ordered_json(ids);
}

}  // namespace

FamilyField special_tokens(const MissingTokens& missing) {
  return {[=](const JsonFields& json, Config& config) {
            SpecialTokens& tokens = config.tokens;
            tokens.ends.clear();
            if (missing.end != SpecialTokens::none) tokens.ends = {missing.end};
            read_id(json, "pad_token_id", missing.pad, tokens.pad);
            read_id(json, "bos_token_id", missing.begin, tokens.begin);
            read_ids(json, "eos_token_id", tokens.ends);
            read_id(json, "decoder_start_token_id", missing.decoder_start, tokens.decoder_start);
          },
          [](ordered_json& json, const Config& config) {
            json["pad_token_id"] = json_of_id(config.tokens.pad);
            json["bos_token_id"] = json_of_id(config.tokens.begin);
            json["eos_token_id"] = json_of_ids(config.tokens.ends);
            if (config.kind != ModelKind::translation) return;
            json["is_encoder_decoder"] = true;
            json["decoder_start_token_id"] = json_of_id(config.tokens.decoder_start);
          }};
}

namespace {

constexpr Index max_labels = 1 << 20;

// The names by number, which are the keys: "0", "1", ...
std::vector<std::string> label_names(const JsonFields& json) {
  std::vector<std::string> names;
  if (!json.has("id2label")) {
    const Index count = json.integer_or("num_labels", 2, {.min = 1, .max = max_labels});
    for (Index i = 0; i < count; ++i) names.push_back("LABEL_" + std::to_string(i));
    return names;
  }
  const JsonFields table = json.object("id2label");
  const std::size_t count = table.json().size();
  require(count > 0, json, "id2label", "expected the names of labels, found none");
  for (std::size_t i = 0; i < count; ++i) names.push_back(table.text(std::to_string(i)));
  return names;
}

}  // namespace

FamilyField labels() {
  return {[](const JsonFields& json, Config& config) {
            const bool has_its_own = !config.labels.empty();  // a head without names
            if (!has_classes(config.kind) || has_its_own) return;
            config.labels = label_names(json);
            if (!is_text_classifier(config.kind)) return;
            config.problem_type =
                config.labels.size() == 1 ? ProblemType::regression : ProblemType::single_label;
            config.text_pairs = json.boolean_or("text_pairs", false);  // Heed's own field
            if (!json.has("problem_type")) return;
            config.problem_type = parse_choice<ProblemType>(
                json.text("problem_type"), json.place("problem_type"), ErrorKind::model);
          },
          [](ordered_json& json, const Config& config) {
            if (!has_classes(config.kind)) return;
            for (std::size_t i = 0; i < config.labels.size(); ++i) {
              json["id2label"][std::to_string(i)] = config.labels[i];
              json["label2id"][config.labels[i]] = i;
            }
            if (!is_text_classifier(config.kind)) return;
            json["problem_type"] = name_of(config.problem_type);
            if (config.text_pairs) json["text_pairs"] = true;
          }};
}

namespace {

using Rotary = ops::RotaryFrequencies;

// Keys that mean something to every type of scaling, and those of one type.
void check_rotary_keys(const JsonFields& json, ops::RotaryScaling scaling) {
  static const std::map<ops::RotaryScaling, std::vector<std::string_view>> of_type{
      {ops::RotaryScaling::none, {"factor"}},
      {ops::RotaryScaling::linear, {"factor"}},
      {ops::RotaryScaling::llama3, {"factor", "low_freq_factor", "high_freq_factor"}},
      {ops::RotaryScaling::yarn,
       {"factor", "attention_factor", "beta_fast", "beta_slow", "truncate"}}};
  static constexpr std::array<std::string_view, 5> of_all{"type", "rope_type", "rope_theta",
                                                          "partial_rotary_factor",
                                                          "original_max_position_embeddings"};
  for (const std::string& key : json.names()) {
    const bool is_known = std::ranges::find(of_all, key) != of_all.end() ||
                          std::ranges::find(of_type.at(scaling), key) != of_type.at(scaling).end();
    require(is_known, json, key, "expected no such setting of RoPE, found ",
            to_text(json.json().at(key)));
  }
}

ops::RotaryScaling rotary_scaling(const JsonFields& json) {
  using enum ops::RotaryScaling;
  const std::string key = json.has("rope_type") ? "rope_type" : "type";
  const std::string type = json.choice_or(key, "default", {"default", "linear", "llama3", "yarn"});
  if (type == "linear") return linear;
  if (type == "llama3") return llama3;
  return type == "yarn" ? yarn : none;
}

// The scaling in rope_scaling or rope_parameters; `config` has the sizes.
Rotary read_scaling(const JsonFields& json, const Config& config) {
  Rotary rotary;
  rotary.scaling = rotary_scaling(json);
  check_rotary_keys(json, rotary.scaling);
  if (rotary.scaling == ops::RotaryScaling::none) return rotary;
  rotary.factor = json.number("factor", positive);
  if (rotary.scaling == ops::RotaryScaling::linear) return rotary;
  const std::string original = "original_max_position_embeddings";
  if (rotary.scaling == ops::RotaryScaling::llama3) {
    rotary.original_positions = json.integer(original, some);
    rotary.low_frequency_factor = json.number("low_freq_factor", positive);
    rotary.high_frequency_factor = json.number("high_freq_factor", positive);
    return rotary;
  }
  rotary.original_positions = json.integer_or(original, config.max_positions, some);
  rotary.beta_fast = json.number_or("beta_fast", rotary.beta_fast, positive);
  rotary.beta_slow = json.number_or("beta_slow", rotary.beta_slow, positive);
  rotary.has_whole_ramp = json.boolean_or("truncate", true);
  if (json.has("attention_factor")) {
    rotary.attention_factor = json.number("attention_factor", positive);
  }
  return rotary;
}

ordered_json json_of_scaling(const Rotary& rotary) {
  if (rotary.scaling == ops::RotaryScaling::none) return nullptr;
  ordered_json json{{"rope_type", name_of(rotary.scaling)}, {"factor", rotary.factor}};
  if (rotary.scaling == ops::RotaryScaling::linear) {
    json["type"] = "linear";  // for readers that know no other key
    return json;
  }
  json["original_max_position_embeddings"] = rotary.original_positions;
  if (rotary.scaling == ops::RotaryScaling::llama3) {
    json["low_freq_factor"] = rotary.low_frequency_factor;
    json["high_freq_factor"] = rotary.high_frequency_factor;
    return json;
  }
  json["beta_fast"] = rotary.beta_fast;
  json["beta_slow"] = rotary.beta_slow;
  if (!rotary.has_whole_ramp) json["truncate"] = false;
  if (rotary.attention_factor) json["attention_factor"] = *rotary.attention_factor;
  return json;
}

double part_of(const JsonFields& json, const std::string& key, double missing) {
  return json.number_or(key, missing, {.min = 0, .max = 1});
}

// rope_parameters, or those of each type of layer, of which only equal ones are supported.
std::vector<JsonFields> rotary_parameters(const JsonFields& json) {
  const JsonFields all = json.object("rope_parameters");
  std::vector<JsonFields> parts;
  for (const std::string& name : all.names()) {
    if (all.json().at(name).is_object()) parts.push_back(all.object(name));
  }
  return parts.empty() ? std::vector{all} : parts;
}

Rotary read_rotary(const JsonFields& json, const Config& config, const RotaryKeys& keys) {
  const double base =
      json.number_or(keys.base, json.number_or("rope_theta", 10000, positive), positive);
  const double part =
      part_of(json, keys.part, part_of(json, "partial_rotary_factor", keys.missing_part));
  const auto with = [&](const JsonFields& place, double its_base, double its_part) {
    Rotary rotary = read_scaling(place, config);
    rotary.base = its_base;
    const auto dim = static_cast<Index>(static_cast<double>(head_dim(config)) * its_part);
    if (dim != head_dim(config)) rotary.dim = dim;
    require(dim > 0, json, keys.part, "expected some of the ", head_dim(config),
            " numbers of a head, found ", its_part);
    return rotary;
  };
  if (!json.has("rope_parameters")) {
    const bool is_scaled = json.has("rope_scaling");
    const auto none = JsonFields::of(nlohmann::json::object(), "");
    return with(is_scaled ? json.object("rope_scaling") : none, base, part);
  }
  std::vector<Rotary> all;
  for (const JsonFields& place : rotary_parameters(json)) {
    all.push_back(with(place, place.number_or("rope_theta", base, positive),
                       part_of(place, "partial_rotary_factor", part)));
    require(all.back() == all.front(), json, "rope_parameters",
            "expected the same for all types of layers, found others");
  }
  return all.front();
}

// A factor that gives the number of rotated dimensions back.
double rotary_part(const Config& config) {
  if (config.rotary.dim == 0) return 1;
  const auto whole = static_cast<double>(head_dim(config));
  double part = static_cast<double>(config.rotary.dim) / whole;
  while (static_cast<Index>(whole * part) < config.rotary.dim) part = std::nextafter(part, 2);
  return part;
}

}  // namespace

FamilyField rotary(const RotaryKeys& keys) {
  return {[=](const JsonFields& json, Config& config) {
            config.positions = Positions::rotary;
            config.rotary = read_rotary(json, config, keys);
          },
          [=](ordered_json& json, const Config& config) {
            json[keys.base] = config.rotary.base;
            json["rope_scaling"] = json_of_scaling(config.rotary);
            if (keys.missing_part != 1 || config.rotary.dim > 0) {
              json[keys.part] = rotary_part(config);
            }
          }};
}

bool in_every_layer(const JsonFields&, Index) { return true; }

namespace {

Index window_of(const Config& config, Index layer) {
  const std::size_t period = config.windows.size();
  return period == 0 ? 0 : config.windows[static_cast<std::size_t>(layer) % period];
}

// Which layers have the window, by layer_types if it is there.
std::vector<bool> windowed_layers(const JsonFields& json, Index num_layers, HasWindow has_window) {
  std::vector<bool> windowed;
  if (!json.has("layer_types")) {
    for (Index layer = 0; layer < num_layers; ++layer) windowed.push_back(has_window(json, layer));
    return windowed;
  }
  for (const std::string& type : json.texts("layer_types")) {
    const bool is_sliding = type == "sliding_attention";
    require(is_sliding || type == "full_attention", json, "layer_types",
            "expected full_attention or sliding_attention, found ", excerpt(type));
    windowed.push_back(is_sliding);
  }
  require(std::ssize(windowed) == num_layers, json, "layer_types", "expected one for each of the ",
          num_layers, " layers, found ", windowed.size());
  return windowed;
}

Index first_window(const Config& config) {  // the number of layers if there is none
  Index layer = 0;
  while (layer < config.decoder_layers && window_of(config, layer) == 0) ++layer;
  return layer;
}

// One number that holds for every layer stands once.
std::vector<Index> shortest_list(std::vector<Index> windows) {
  const bool are_equal = std::ranges::all_of(windows, [&](Index w) { return w == windows[0]; });
  if (are_equal && !windows.empty()) windows.resize(windows[0] > 0 ? 1 : 0);
  return windows;
}

}  // namespace

FamilyField windows(std::optional<Index> missing, HasWindow has_window,
                    const std::string& switch_key) {
  return {[=](const JsonFields& json, Config& config) {
            const std::string key = "sliding_window";
            const bool is_on = switch_key.empty() || json.boolean_or(switch_key, false);
            const Index window = is_null(json, key) ? 0
                                                    : json.integer_or(key, missing.value_or(0),
                                                                      {.min = 0, .max = some.max});
            config.windows.clear();
            for (const bool has : windowed_layers(json, config.decoder_layers, has_window)) {
              config.windows.push_back(is_on && has ? window : 0);
            }
            config.windows = shortest_list(config.windows);
          },
          [=](ordered_json& json, const Config& config) {
            const auto window = std::ranges::max_element(config.windows);
            const bool has_any = window != config.windows.end();
            json["sliding_window"] = has_any ? ordered_json(*window) : ordered_json();
            if (!switch_key.empty()) {  // for readers that know no layer_types
              json[switch_key] = has_any;
              json["max_window_layers"] = first_window(config);
            }
            if (!has_any || has_window == in_every_layer) return;
            for (Index layer = 0; layer < config.decoder_layers; ++layer) {
              const bool has = window_of(config, layer) > 0;
              json["layer_types"].push_back(has ? "sliding_attention" : "full_attention");
            }
          }};
}

}  // namespace heed::models::families
