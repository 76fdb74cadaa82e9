#include "heed/models/config_fields.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <type_traits>

#include "heed/io/json_fields.h"
#include "heed/text/tokenizer.h"

namespace heed::models {
namespace {

using Config = TransformerConfig;
using nlohmann::ordered_json;

// Far beyond what a processor trains, and small enough that products of two fit an Index.
constexpr Range size{1, 1 << 24}, size_or_none{0, 1 << 24};
constexpr Range layers{0, 1024};
constexpr Range pixels{1, 1 << 13};
constexpr Range probability{0, 1, /*is_open=*/true};
constexpr Range any_number{-1e18, 1e18}, positive_number{1e-30, 1e18};

bool has_images(ModelKind kind) { return !has_text(kind); }

// clang-format off
const ConfigField fields[]{
    {.json = "model_type", .member = &Config::kind, .missing = Missing::refuse},
    {.json = "vocab_size", .noun = "a vocabulary", .member = &Config::vocabulary,
     .range = size_or_none, .missing = Missing::refuse},
    {.json = "d_model", .option = "width", .aliases = {"d-model", "dim", "dim-model"}, .group = "Model",
     .description = "size of the hidden vectors (d_model)", .noun = "a width",
     .member = &Config::model_dim, .range = size, .missing = Missing::refuse,
     .is_architecture = true},
    {.json = "encoder_layers", .option = "encoder-layers", .group = "Model",
     .description = "number of encoder layers; 0 for a language model", .noun = "encoder layers",
     .member = &Config::encoder_layers, .range = layers, .missing = Missing::refuse,
     .is_architecture = true},
    {.json = "decoder_layers", .option = "decoder-layers", .group = "Model",
     .description = "number of decoder layers; 0 for classifiers, taggers and masked language models",
     .noun = "decoder layers", .member = &Config::decoder_layers, .range = layers,
     .missing = Missing::refuse, .is_architecture = true},
    {.json = "ffn_dim", .option = "feed-forward", .aliases = {"ffn-dim"}, .group = "Model",
     .description = "width of the feed-forward layer", .noun = "a feed-forward width",
     .member = &Config::feed_forward_dim, .range = size, .missing = Missing::refuse,
     .is_architecture = true},
    {.json = "attention_heads", .option = "heads", .aliases = {"attention-heads"}, .group = "Attention",
     .description = "number of attention heads", .noun = "heads", .member = &Config::num_heads,
     .range = size, .missing = Missing::refuse, .is_architecture = true},
    {.json = "key_value_heads", .option = "key-value-heads", .group = "Attention",
     .description = "number of key/value heads (grouped-query attention); 0: as many as heads",
     .noun = "key/value heads", .member = &Config::num_key_value_heads, .range = size_or_none,
     .missing = Missing::zero, .is_architecture = true},
    {.json = "max_position_embeddings", .option = "max-positions", .aliases = {"context"},
     .group = "Model",
     .description = "longest sequence for learned positions; context length of a language model",
     .noun = "positions", .member = &Config::max_positions, .range = size,
     .is_architecture = true},
    {.json = "truncate_source", .option = "truncate-source", .group = "Data",
     .description = "cut sources (or lines to classify) after so many tokens; 0: no cut",
     .noun = "source tokens", .member = &Config::truncate_source, .range = size_or_none,
     .missing = Missing::zero, .exists = may_truncate_source},
    {.json = "dropout", .option = "dropout", .group = "Regularisation",
     .description = "dropout probability on embeddings and sub-layer outputs", .noun = "dropout",
     .member = &Config::dropout, .range = probability, .missing = Missing::zero},
    {.json = "attention_dropout", .option = "attention-dropout", .group = "Regularisation",
     .description = "dropout probability on attention weights", .noun = "attention dropout",
     .member = &Config::attention_dropout, .range = probability, .missing = Missing::zero},
    {.json = "activation_dropout", .option = "activation-dropout", .group = "Regularisation",
     .description = "dropout probability after the activation of the feed-forward layer",
     .noun = "activation dropout", .member = &Config::activation_dropout, .range = probability,
     .missing = Missing::zero},
    {.json = "label_smoothing", .option = "label-smoothing", .group = "Regularisation",
     .description = "label smoothing: probability mass spread over all classes",
     .noun = "label smoothing", .member = &Config::label_smoothing, .range = probability,
     .missing = Missing::zero},
    {.json = "guided_alignment", .option = "guided-alignment-weight", .group = "Attention",
     .description = "weight of the guided alignment loss",
     .noun = "a weight of guided alignment", .member = &Config::guided_alignment,
     .range = {0, 1000}, .missing = Missing::zero},
    {.json = "similarity", .option = "similarity", .group = "Attention",
     .description = "similarity of queries and keys", .member = &Config::similarity,
     .is_architecture = true},
    {.json = "norm_place", .option = "norm", .group = "Model",
     .description = "norm before (pre-norm) or after (post-norm) each sub-layer",
     .member = &Config::norm_place, .is_architecture = true},
    {.json = "norm_kind", .option = "norm-kind", .group = "Model",
     .description = "layer norm or RMS norm", .member = &Config::norm_kind,
     .is_architecture = true},
    {.json = "positions", .option = "positions", .group = "Model",
     .description = "position encoding", .member = &Config::positions, .is_architecture = true},
    {.json = "activation_function", .option = "activation", .group = "Model",
     .description = "activation of the feed-forward layer", .member = &Config::activation,
     .is_architecture = true},
    {.json = "tied_embeddings", .option = "tying", .group = "Model",
     .description = "tied embeddings: none, target input and output, or all",
     .member = &Config::tying, .is_architecture = true},
    {.json = "weights", .member = &Config::weights},
    {.json = "pad_token_id", .member = JsonConstant{text::Tokenizer::pad}, .exists = has_text},
    {.json = "unk_token_id", .member = JsonConstant{text::Tokenizer::unknown}, .exists = has_text},
    {.json = "bos_token_id", .member = JsonConstant{text::Tokenizer::begin}, .exists = has_text},
    {.json = "eos_token_id", .member = JsonConstant{text::Tokenizer::end}, .exists = has_text},
    {.json = "decoder_start_token_id", .member = JsonConstant{text::Tokenizer::end},
     .exists = has_text},
    {.json = "image_height", .option = "image-height", .group = "Images",
     .description = "height in pixels that images are resized to", .noun = "an image height",
     .member = &Config::image_height, .range = pixels, .missing = Missing::refuse,
     .exists = has_images, .is_architecture = true},
    {.json = "image_width", .option = "image-width", .group = "Images",
     .description = "width in pixels that images are resized to", .noun = "an image width",
     .member = &Config::image_width, .range = pixels, .missing = Missing::refuse,
     .exists = has_images, .is_architecture = true},
    {.json = "num_channels", .option = "image-channels", .group = "Images",
     .description = "image channels: 1 (grey) or 3 (colour)", .noun = "image channels",
     .member = &Config::image_channels, .range = {1, 3}, .missing = Missing::refuse,
     .exists = has_images, .is_architecture = true},
    {.json = "patch_size", .option = "patch-side", .aliases = {"patch-size"}, .group = "Images",
     .description = "side of a square patch in pixels", .noun = "a patch side",
     .member = &Config::patch_side, .range = pixels, .missing = Missing::refuse,
     .exists = has_images, .is_architecture = true},
    {.json = "pooling", .option = "pooling", .group = "Classification",
     .description = "pooling of token vectors to one vector", .member = &Config::pooling,
     .exists = has_pooling},
    {.json = "labels", .member = &Config::labels, .missing = Missing::refuse,
     .exists = has_classes},
    {.json = "problem_type", .option = "problem-type", .aliases = {"problem"},
     .group = "Classification", .description = "what labels are: one of several, any number, or numbers",
     .member = &Config::problem_type, .exists = is_text_classifier, .is_omitted_by_default = true},
    {.json = "text_pairs", .member = &Config::text_pairs, .exists = is_text_classifier,
     .is_omitted_by_default = true},
    {.json = "score_mean", .noun = "a mean of scores", .member = &Config::score_mean,
     .range = any_number, .exists = is_text_classifier, .is_omitted_by_default = true},
    {.json = "score_scale", .noun = "a scale of scores", .member = &Config::score_scale,
     .range = positive_number, .exists = is_text_classifier, .is_omitted_by_default = true},
};
// clang-format on

// 0.3f as 0.3, not as 0.30000001192092896.
double shortest(float value) { return std::stod(fmt::format("{}", value)); }

ordered_json json_of(Index value) { return value; }
ordered_json json_of(bool value) { return value; }
ordered_json json_of(float value) { return shortest(value); }
ordered_json json_of(const std::vector<std::string>& labels) { return labels; }
template <typename Value>
requires std::is_enum_v<Value> ordered_json json_of(Value value) { return name_of(value); }

// Sets one member from config.json, with the errors of JsonFields.
class Reader {
 public:
  Reader(const io::JsonFields& json, std::string_view file, const ConfigField& field)
      : json_(json), file_(file), field_(field), name_(field.json) {}

  void read(Index& value) const {
    const io::IntegerRange range{static_cast<Index>(field_.range.min),
                                 static_cast<Index>(field_.range.max)};
    value = field_.missing == Missing::refuse
                ? json_.integer(name_, range)
                : json_.integer_or(name_, field_.missing == Missing::zero ? 0 : value, range);
  }
  void read(float& value) const {
    const double fallback = field_.missing == Missing::zero ? 0 : double{value};
    value =
        static_cast<float>(json_.number_or(name_, fallback, {field_.range.min, field_.range.max}));
  }
  void read(bool& value) const {
    if (json_.has(name_)) value = json_.boolean(name_);
  }
  void read(std::vector<std::string>& labels) const {
    labels = json_.texts(name_);
    check_as(ErrorKind::model, !labels.empty(), file_, ": ", name_,
             ": expected the names of classes, found none");
  }
  template <typename Value>
  requires std::is_enum_v<Value>
  void read(Value& value) const {
    if (field_.missing != Missing::refuse && !json_.has(name_)) return;
    value =
        parse_choice<Value>(json_.text(name_), std::string(file_) + ": " + name_, ErrorKind::model);
  }

 private:
  const io::JsonFields& json_;
  std::string_view file_;
  const ConfigField& field_;
  std::string name_;
};

// Calls work(member pointer) for a row that is a setting.
template <typename Work>
void with_member(const ConfigField& field, Work&& work) {
  std::visit(
      [&]<typename Member>(Member member) {
        if constexpr (!std::is_same_v<Member, JsonConstant>) work(member);
      },
      field.member);
}

}  // namespace

std::span<const ConfigField> config_fields() { return fields; }

void check_ranges(const TransformerConfig& config, std::string_view what, ErrorKind kind) {
  for (const ConfigField& field : fields) {
    if (!field.exists(config.kind)) continue;
    with_member(field, [&](auto member) {
      const auto& value = config.*member;
      using Value = std::remove_cvref_t<decltype(value)>;
      if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>) {
        const auto [min, max, is_open] = field.range;
        if (is_open) {
          check_as(kind, value >= min && value < max, what, ": expected ", field.noun,
                   " of at least ", min, " and below ", max, ", found ", value);
        } else {
          check_as(kind, value >= min && value <= max, what, ": expected ", field.noun, " from ",
                   static_cast<Index>(min), " to ", static_cast<Index>(max), ", found ", value);
        }
      }
    });
  }
}

std::string to_json(const TransformerConfig& config) {
  const TransformerConfig defaults;
  ordered_json json;
  for (const ConfigField& field : fields) {
    if (!field.exists(config.kind)) continue;
    std::visit(
        [&]<typename Member>(Member member) {
          if constexpr (std::is_same_v<Member, JsonConstant>) {
            json[field.json] = member.value;
          } else if (!field.is_omitted_by_default || config.*member != defaults.*member) {
            json[field.json] = json_of(config.*member);
          }
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
    with_member(field, [&](auto member) { Reader(json, file_name, field).read(config.*member); });
  }
  validate(config, file_name, ErrorKind::model);
  return config;
}

}  // namespace heed::models
