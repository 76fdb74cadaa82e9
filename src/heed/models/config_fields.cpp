#include "heed/models/config_fields.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <type_traits>

#include "heed/io/json_fields.h"

namespace heed::models {
namespace {

using Config = TransformerConfig;
using nlohmann::ordered_json;

// Far beyond what a processor trains, and small enough that products of two fit an Index.
constexpr Range size{1, 1 << 24}, size_or_none{0, 1 << 24};
constexpr Range short_size{0, 1 << 16};  // of tables that no file holds
constexpr Range layers{0, 1024};
constexpr Range pixels{1, 1 << 13};
constexpr Range probability{0, 1, /*is_open=*/true};
constexpr Range any_number{-1e18, 1e18}, positive_number{1e-30, 1e18};

constexpr Range token_id{text::SpecialTokens::none, 1 << 24};
constexpr Range any_size{0, 1e18};

bool has_images(ModelKind kind) { return !has_text(kind); }

// The member at the end of a path of members: at<&Config::rotary, &ops::RotaryFrequencies::base>.
template <auto... path>
constexpr auto at = +[](Config& config) -> auto& {
  return (config.*....*path);
};

// What only models of other families have. It shapes or interprets the weights.
template <typename Value>
constexpr ConfigField foreign(std::string_view json, ConfigMember<Value> member, Range range = {}) {
  return {.json = json,
          .noun = json,
          .member = member,
          .range = range,
          .is_architecture = true,
          .is_omitted_by_default = true};
}

using Tokens = text::SpecialTokens;
using Rotary = ops::RotaryFrequencies;

template <typename Value>
constexpr ConfigField token_row(std::string_view json, ConfigMember<Value> member) {
  return {.json = json,
          .noun = json,
          .member = member,
          .range = token_id,
          .exists = has_text,
          .is_architecture = true};
}

// clang-format off
const ConfigField fields[]{
    {.json = "model_type", .member = at<&Config::kind>, .missing = Missing::refuse},
    {.json = "family", .member = at<&Config::family>, .is_architecture = true,
     .is_omitted_by_default = true},
    {.json = "vocab_size", .noun = "a vocabulary", .member = at<&Config::vocabulary>,
     .range = size_or_none, .missing = Missing::refuse, .is_architecture = true},
    {.json = "d_model", .option = "width", .aliases = {"d-model", "dim", "dim-model"}, .group = "Model",
     .description = "size of the hidden vectors (d_model)", .noun = "a width",
     .member = at<&Config::model_dim>, .range = size, .missing = Missing::refuse,
     .is_architecture = true},
    {.json = "encoder_layers", .option = "encoder-layers", .group = "Model",
     .description = "number of encoder layers; 0 for a language model", .noun = "encoder layers",
     .member = at<&Config::encoder_layers>, .range = layers, .missing = Missing::refuse,
     .is_architecture = true},
    {.json = "decoder_layers", .option = "decoder-layers", .group = "Model",
     .description = "number of decoder layers; 0 for classifiers, taggers and masked language models",
     .noun = "decoder layers", .member = at<&Config::decoder_layers>, .range = layers,
     .missing = Missing::refuse, .is_architecture = true},
    {.json = "ffn_dim", .option = "feed-forward", .aliases = {"ffn-dim"}, .group = "Model",
     .description = "width of the feed-forward layer", .noun = "a feed-forward width",
     .member = at<&Config::feed_forward_dim>, .range = size, .missing = Missing::refuse,
     .is_architecture = true},
    {.json = "attention_heads", .option = "heads", .aliases = {"attention-heads"}, .group = "Attention",
     .description = "number of attention heads", .noun = "heads", .member = at<&Config::num_heads>,
     .range = size, .missing = Missing::refuse, .is_architecture = true},
    {.json = "key_value_heads", .option = "key-value-heads", .group = "Attention",
     .description = "number of key/value heads (grouped-query attention); 0: as many as heads",
     .noun = "key/value heads", .member = at<&Config::num_key_value_heads>, .range = size_or_none,
     .missing = Missing::zero, .is_architecture = true},
    {.json = "max_position_embeddings", .option = "max-positions", .aliases = {"context"},
     .group = "Model",
     .description = "longest sequence for learned positions; context length of a language model",
     .noun = "positions", .member = at<&Config::max_positions>, .range = size,
     .is_architecture = true},
    {.json = "truncate_source", .option = "truncate-source", .group = "Data",
     .description = "cut sources (or lines to classify) after so many tokens; 0: no cut",
     .noun = "source tokens", .member = at<&Config::truncate_source>, .range = size_or_none,
     .missing = Missing::zero, .exists = may_truncate_source},
    {.json = "dropout", .option = "dropout", .group = "Regularisation",
     .description = "dropout probability on embeddings and sub-layer outputs", .noun = "dropout",
     .member = at<&Config::dropout>, .range = probability, .missing = Missing::zero},
    {.json = "attention_dropout", .option = "attention-dropout", .group = "Regularisation",
     .description = "dropout probability on attention weights", .noun = "attention dropout",
     .member = at<&Config::attention_dropout>, .range = probability, .missing = Missing::zero},
    {.json = "activation_dropout", .option = "activation-dropout", .group = "Regularisation",
     .description = "dropout probability after the activation of the feed-forward layer",
     .noun = "activation dropout", .member = at<&Config::activation_dropout>, .range = probability,
     .missing = Missing::zero},
    {.json = "label_smoothing", .option = "label-smoothing", .group = "Regularisation",
     .description = "label smoothing: probability mass spread over all classes",
     .noun = "label smoothing", .member = at<&Config::label_smoothing>, .range = probability,
     .missing = Missing::zero},
    {.json = "guided_alignment", .option = "guided-alignment-weight", .group = "Attention",
     .description = "weight of the guided alignment loss",
     .noun = "a weight of guided alignment", .member = at<&Config::guided_alignment>,
     .range = {0, 1000}, .missing = Missing::zero},
    {.json = "similarity", .option = "similarity", .group = "Attention",
     .description = "similarity of queries and keys", .member = at<&Config::similarity>,
     .is_architecture = true},
    {.json = "norm_place", .option = "norm", .group = "Model",
     .description = "norm before (pre-norm) or after (post-norm) each sub-layer",
     .member = at<&Config::norm_place>, .is_architecture = true},
    {.json = "norm_kind", .option = "norm-kind", .group = "Model",
     .description = "layer norm or RMS norm", .member = at<&Config::norm_kind>,
     .is_architecture = true},
    {.json = "positions", .option = "positions", .group = "Model",
     .description = "position encoding", .member = at<&Config::positions>, .is_architecture = true},
    {.json = "activation_function", .option = "activation", .group = "Model",
     .description = "activation of the feed-forward layer", .member = at<&Config::activation>,
     .is_architecture = true},
    {.json = "tied_embeddings", .option = "tying", .group = "Model",
     .description = "tied embeddings: none, target input and output, all, or both inputs",
     .member = at<&Config::tying>, .is_architecture = true},
    {.json = "weights", .member = at<&Config::weights>},
    token_row("pad_token_id", at<&Config::tokens, &Tokens::pad>),
    token_row("unk_token_id", at<&Config::tokens, &Tokens::unknown>),
    token_row("bos_token_id", at<&Config::tokens, &Tokens::begin>),
    token_row("eos_token_id", at<&Config::tokens, &Tokens::ends>),
    token_row("decoder_start_token_id", at<&Config::tokens, &Tokens::decoder_start>),
    {.json = "image_height", .option = "image-height", .group = "Images",
     .description = "height in pixels that images are resized to", .noun = "an image height",
     .member = at<&Config::image_height>, .range = pixels, .missing = Missing::refuse,
     .exists = has_images, .is_architecture = true},
    {.json = "image_width", .option = "image-width", .group = "Images",
     .description = "width in pixels that images are resized to", .noun = "an image width",
     .member = at<&Config::image_width>, .range = pixels, .missing = Missing::refuse,
     .exists = has_images, .is_architecture = true},
    {.json = "num_channels", .option = "image-channels", .group = "Images",
     .description = "image channels: 1 (grey) or 3 (colour)", .noun = "image channels",
     .member = at<&Config::image_channels>, .range = {1, 3}, .missing = Missing::refuse,
     .exists = has_images, .is_architecture = true},
    {.json = "patch_size", .option = "patch-side", .aliases = {"patch-size"}, .group = "Images",
     .description = "side of a square patch in pixels", .noun = "a patch side",
     .member = at<&Config::patch_side>, .range = pixels, .missing = Missing::refuse,
     .exists = has_images, .is_architecture = true},
    {.json = "pooling", .option = "pooling", .group = "Classification",
     .description = "pooling of token vectors to one vector", .member = at<&Config::pooling>,
     .exists = has_pooling},
    {.json = "normalizes", .member = at<&Config::normalizes>, .exists = is_sentence_encoder},
    {.json = "labels", .member = at<&Config::labels>, .missing = Missing::refuse,
     .exists = has_classes},
    {.json = "problem_type", .option = "problem-type", .aliases = {"problem"},
     .group = "Classification", .description = "what labels are: one of several, any number, or numbers",
     .member = at<&Config::problem_type>, .exists = is_text_classifier, .is_omitted_by_default = true},
    {.json = "text_pairs", .member = at<&Config::text_pairs>, .exists = is_text_classifier,
     .is_omitted_by_default = true},
    {.json = "score_mean", .noun = "a mean of scores", .member = at<&Config::score_mean>,
     .range = any_number, .exists = is_text_classifier, .is_omitted_by_default = true},
    {.json = "score_scale", .noun = "a scale of scores", .member = at<&Config::score_scale>,
     .range = positive_number, .exists = is_text_classifier, .is_omitted_by_default = true},
    foreign("source_vocab_size", at<&Config::source_vocabulary>, size_or_none),
    foreign("embedding_size", at<&Config::embedding_dim>, size_or_none),
    foreign("embedding_projection", at<&Config::embedding_projection>),
    foreign("embedding_scale", at<&Config::embedding_scale>, any_number),
    foreign("frozen_padding", at<&Config::freezes_padding>),
    foreign("type_vocab_size", at<&Config::token_types>, size_or_none),
    foreign("head_dim", at<&Config::head_dim>, size_or_none),
    foreign("decoder_attention_heads", at<&Config::decoder_heads>, size_or_none),
    foreign("decoder_ffn_dim", at<&Config::decoder_feed_forward_dim>, size_or_none),
    foreign("attention_bias", at<&Config::attention_bias>),
    foreign("feed_forward_bias", at<&Config::has_feed_forward_bias>),
    foreign("feed_forward_gate", at<&Config::has_feed_forward_gate>),
    foreign("attention_scale", at<&Config::attention_scale>, any_number),
    foreign("layer_scale", at<&Config::has_layer_scale>),
    foreign("attention_softcap", at<&Config::attention_softcap>, any_size),
    foreign("windows", at<&Config::windows>, size_or_none),
    foreign("block_form", at<&Config::block_form>),
    foreign("norm_epsilon", at<&Config::norm_epsilon>, {0, 1}),
    foreign("norm_bias", at<&Config::has_norm_bias>),
    foreign("norm_unit_offset", at<&Config::has_norm_unit_offset>),
    foreign("query_key_norm", at<&Config::has_query_key_norm>),
    foreign("embedding_norm", at<&Config::has_embedding_norm>),
    foreign("final_norm", at<&Config::has_final_norm>),
    foreign("shared_layers", at<&Config::has_shared_layers>),
    foreign("position_offset", at<&Config::position_offset>, short_size),
    foreign("sinusoid_order", at<&Config::sinusoid_order>),
    foreign("rotary_dim", at<&Config::rotary, &Rotary::dim>, size_or_none),
    foreign("rotary_base", at<&Config::rotary, &Rotary::base>, positive_number),
    foreign("rotary_scaling", at<&Config::rotary, &Rotary::scaling>),
    foreign("rotary_factor", at<&Config::rotary, &Rotary::factor>, positive_number),
    foreign("rotary_original_positions", at<&Config::rotary, &Rotary::original_positions>,
            size_or_none),
    foreign("rotary_low_frequency_factor", at<&Config::rotary, &Rotary::low_frequency_factor>,
            any_size),
    foreign("rotary_high_frequency_factor", at<&Config::rotary, &Rotary::high_frequency_factor>,
            any_size),
    foreign("rotary_beta_fast", at<&Config::rotary, &Rotary::beta_fast>, any_size),
    foreign("rotary_beta_slow", at<&Config::rotary, &Rotary::beta_slow>, any_size),
    foreign("rotary_whole_ramp", at<&Config::rotary, &Rotary::has_whole_ramp>),
    foreign("rotary_divisors", at<&Config::rotary, &Rotary::divisors>, positive_number),
    foreign("rotary_attention_factor", at<&Config::rotary, &Rotary::attention_factor>,
            positive_number),
    foreign("relative_buckets", at<&Config::relative_buckets>, size_or_none),
    foreign("relative_max_distance", at<&Config::relative_max_distance>, short_size),
    foreign("class_token", at<&Config::has_class_token>),
    foreign("output_transform", at<&Config::has_output_transform>),
    foreign("output_activation", at<&Config::output_activation>),
    foreign("output_bias", at<&Config::has_output_bias>),
    foreign("output_scale", at<&Config::output_scale>, any_number),
    foreign("logit_softcap", at<&Config::logit_softcap>, any_size),
    foreign("head_layer", at<&Config::head_layer>),
    foreign("prepends_begin", at<&Config::prepends_begin>),
};
// clang-format on

ordered_json json_of(Index value) { return value; }
ordered_json json_of(bool value) { return value; }
ordered_json json_of(const std::string& value) { return value; }
ordered_json json_of(float value) { return shortest(value); }
ordered_json json_of(double value) { return value; }
ordered_json json_of(int id) { return id == Tokens::none ? ordered_json() : ordered_json(id); }
ordered_json json_of(const std::vector<int>& ids) {
  return ids.size() == 1 ? json_of(ids.front()) : ordered_json(ids);
}
template <typename Value>
requires(!std::is_same_v<Value, int>) ordered_json json_of(const std::vector<Value>& values) {
  return values;
}
template <typename Value>
requires std::is_enum_v<Value> ordered_json json_of(Value value) { return name_of(value); }
template <typename Value>
ordered_json json_of(const std::optional<Value>& value) {
  return value ? json_of(*value) : ordered_json();
}

// Sets one member from config.json, with the errors of JsonFields.
class Reader {
 public:
  Reader(const io::JsonFields& json, std::string_view file, const ConfigField& field)
      : json_(json), file_(file), field_(field), name_(field.json) {}

  void read(Index& value) const {
    value = field_.missing == Missing::refuse
                ? json_.integer(name_, integers())
                : json_.integer_or(name_, field_.missing == Missing::zero ? 0 : value, integers());
  }
  void read(double& value) const {
    value = json_.number_or(name_, field_.missing == Missing::zero ? 0 : value, numbers());
  }
  void read(float& value) const {
    double number = value;
    read(number);
    value = static_cast<float>(number);
  }
  void read(std::string& value) const { value = json_.text_or(name_, value); }
  void read(bool& value) const { value = json_.boolean_or(name_, value); }
  // The id of a token: null if there is none.
  void read(int& id) const {
    if (is_null()) {
      id = Tokens::none;
    } else {
      id = static_cast<int>(json_.integer_or(name_, id, integers()));
    }
  }
  void read(std::vector<int>& ids) const {  // or one of them
    if (!json_.json().contains(name_)) return;
    ids.clear();
    if (is_null()) return;
    if (!json_.json().at(name_).is_array()) return ids.push_back(one_id());
    for (const auto id : json_.integers(name_, integers())) ids.push_back(static_cast<int>(id));
  }
  void read(std::vector<Index>& values) const {
    if (json_.has(name_)) values = json_.integers(name_, integers());
  }
  void read(std::vector<double>& values) const {
    if (json_.has(name_)) values = json_.numbers(name_, numbers());
  }
  void read(std::vector<std::string>& labels) const {
    labels = json_.texts(name_);
    check_as(ErrorKind::model, !labels.empty(), file_, ": ", name_,
             ": expected the names of classes, found none");
  }
  template <typename Value>
  void read(std::optional<Value>& value) const {
    if (!json_.has(name_)) return value.reset();
    read(value.emplace());
  }
  template <typename Value>
  requires std::is_enum_v<Value>
  void read(Value& value) const {
    if (field_.missing != Missing::refuse && !json_.has(name_)) return;
    value =
        parse_choice<Value>(json_.text(name_), std::string(file_) + ": " + name_, ErrorKind::model);
  }

 private:
  io::IntegerRange integers() const {
    return {static_cast<Index>(field_.range.min), static_cast<Index>(field_.range.max)};
  }
  io::NumberRange numbers() const { return {field_.range.min, field_.range.max}; }
  bool is_null() const { return json_.json().contains(name_) && !json_.has(name_); }
  int one_id() const { return static_cast<int>(json_.integer(name_, integers())); }

  const io::JsonFields& json_;
  std::string_view file_;
  const ConfigField& field_;
  std::string name_;
};

// Calls work(number) for the numbers of a setting. Those of a text are its letters, and do not
// count.
template <typename Value, typename Work>
void for_each_number(const Value& value, Work&& work) {
  if constexpr (std::is_same_v<Value, std::string>) {
    return;  // whose characters are no numbers
  } else if constexpr (std::is_arithmetic_v<Value>) {
    if constexpr (!std::is_same_v<Value, bool>) work(value);
  } else if constexpr (requires { value.has_value(); }) {
    if (value) for_each_number(*value, work);
  } else if constexpr (!std::is_same_v<Value, std::string> && requires { value.begin(); }) {
    for (const auto& one : value) for_each_number(one, work);
  }
}

}  // namespace

std::span<const ConfigField> config_fields() { return fields; }

double shortest(float value) { return std::stod(fmt::format("{}", value)); }

void check_ranges(const TransformerConfig& config, std::string_view what, ErrorKind kind) {
  for (const ConfigField& field : fields) {
    if (!field.exists(config.kind)) continue;
    const auto [min, max, is_open] = field.range;
    const auto check_number = [&, min = min, max = max, is_open = is_open](auto value) {
      if constexpr (std::is_arithmetic_v<decltype(value)>) {
        if (is_open) {
          check_as(kind, value >= min && value < max, what, ": expected ", field.noun,
                   " of at least ", min, " and below ", max, ", found ", value);
        } else {
          check_as(kind, value >= min && value <= max, what, ": expected ", field.noun, " from ",
                   static_cast<Index>(min), " to ", static_cast<Index>(max), ", found ", value);
        }
      }
    };
    std::visit([&](auto member) { for_each_number(value_of(config, member), check_number); },
               field.member);
  }
}

std::string to_json(const TransformerConfig& config) {
  const TransformerConfig defaults;
  ordered_json json;
  for (const ConfigField& field : fields) {
    if (!field.exists(config.kind)) continue;
    std::visit(
        [&](auto member) {
          const auto& value = value_of(config, member);
          if (field.is_omitted_by_default && value == value_of(defaults, member)) return;
          json[field.json] = json_of(value);
        },
        field.member);
  }
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

TransformerConfig transformer_config_from_json(std::string_view text, std::string_view file_name) {
  const auto json = io::JsonFields::parse(text, std::string(file_name));
  TransformerConfig config;
  for (const ConfigField& field : fields) {
    if (!field.exists(config.kind)) continue;
    std::visit([&](auto member) { Reader(json, file_name, field).read(member(config)); },
               field.member);
  }
  validate(config, file_name, ErrorKind::model);
  return config;
}

std::string inherited_to_json(const TransformerConfig& config) {
  const TransformerConfig defaults;
  ordered_json json = ordered_json::object();
  for (const ConfigField& field : fields) {
    if (!is_inherited(field) || is_same(field, config, defaults)) continue;
    std::visit([&](auto member) { json[field.json] = json_of(value_of(config, member)); },
               field.member);
  }
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

void read_inherited(const io::JsonFields& json, std::string_view source,
                    TransformerConfig& config) {
  for (const ConfigField& field : fields) {
    if (!is_inherited(field) || !json.json().contains(std::string(field.json))) continue;
    std::visit([&](auto member) { Reader(json, source, field).read(member(config)); },
               field.member);
  }
}

bool is_same(const ConfigField& field, const TransformerConfig& a, const TransformerConfig& b) {
  return std::visit([&](auto member) { return value_of(a, member) == value_of(b, member); },
                    field.member);
}

void copy_setting(const ConfigField& field, const TransformerConfig& from, TransformerConfig& to) {
  std::visit([&](auto member) { member(to) = value_of(from, member); }, field.member);
}

std::string to_text(const ConfigField& field, const TransformerConfig& config) {
  return std::visit([&](auto member) { return json_of(value_of(config, member)).dump(); },
                    field.member);
}

}  // namespace heed::models
