#include "heed/models/family_form.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "heed/base/error.h"
#include "heed/models/config_fields.h"
#include "heed/models/family.h"
#include "heed/models/model_kinds.h"
#include "heed/nn/positions.h"

namespace heed::models {
namespace {

using text::SpecialTokens;

// In the order in which they are tried.
std::vector<std::string_view> candidates(ModelKind kind) {
  if (kind == ModelKind::translation) return {"marian", "bart", "mbart", "m2m_100"};
  if (kind == ModelKind::language) return {"gpt2", "llama", "gpt_neox"};
  return {kind == ModelKind::image_classifier ? "vit" : "bert"};
}

bool is_tied(const TransformerConfig& config) {
  return config.tying == Tying::all || config.tying == Tying::target;
}

// Settings without a meaning for a network that has been trained, or for one of this kind.
void forget_what_does_not_matter(TransformerConfig& config) {
  const TransformerConfig none;
  config.dropout = config.attention_dropout = config.activation_dropout = 0;
  config.label_smoothing = config.guided_alignment = 0;
  config.truncate_source = 0;
  config.freezes_padding = false;
  config.weights = WeightFormat::f32;
  config.tokens.unknown = SpecialTokens::none;
  if (config.kind != ModelKind::translation) config.tokens.decoder_start = SpecialTokens::none;
  if (!has_pooling(config.kind) || config.pooling != Pooling::first) config.prepends_begin = false;
  if (config.positions != Positions::learned) config.max_positions = none.max_positions;
  if (config.positions != Positions::rotary) config.rotary = none.rotary;
  if (config.positions != Positions::sinusoidal) config.sinusoid_order = none.sinusoid_order;
  if (config.relative_buckets == 0) config.relative_max_distance = none.relative_max_distance;
  if (!has_output_projection(config.kind)) config.tying = none.tying;
}

// The changes of form.
TransformerConfig as_in(const Family& family, TransformerConfig config) {
  const TransformerConfig& network = family.network;
  config.family = family.model_type;
  config.weights = WeightFormat::f32;
  if (config.kind == ModelKind::language) config.tokens.begin = SpecialTokens::none;  // see export
  if (network.embedding_scale == 1.0F && embedding_scale(config) != 1 &&
      config.kind != ModelKind::masked) {
    config.embedding_scale = 1;
    if (is_tied(config)) config.tying = Tying::none;
  }
  if (config.activation == Activation::swiglu) {
    config.activation = Activation::silu;
    config.has_feed_forward_gate = true;
  }
  if (config.kind != ModelKind::translation && network.positions == Positions::learned &&
      (config.positions == Positions::sinusoidal || config.positions == Positions::none)) {
    config.positions = Positions::learned;
  }
  if (network.sinusoid_order == ops::SinusoidOrder::halves && config.model_dim % 2 == 0) {
    config.sinusoid_order = ops::SinusoidOrder::halves;
  }
  if (family.model_type == "bert" && config.token_types == 0) config.token_types = 2;
  if (network.has_output_bias && has_output_projection(config.kind)) config.has_output_bias = true;
  const bool has_two_inputs = config.tying == Tying::none || config.tying == Tying::target;
  if (family.model_type == "marian" && has_two_inputs && config.source_vocabulary == 0) {
    config.source_vocabulary = config.vocabulary;
  }
  return config;
}

// What a reader makes of the configuration that the family's table writes.
TransformerConfig read_back(const Family& family, const FamilyClass& its_class,
                            const TransformerConfig& config) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const FamilyField& field : family.fields) field.write(json, config);
  const std::string text =
      json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  const auto fields = io::JsonFields::parse(text, "config.json");
  TransformerConfig read = family.network;
  read.family = family.model_type;
  read.kind = its_class.kind;
  if (its_class.set_head != nullptr) its_class.set_head(read);
  for (const FamilyField& field : family.fields) field.read(fields, read);
  return read;
}

struct Fit {
  std::string_view family;
  TransformerConfig form;
  std::vector<std::string> without_home;  // settings, by name
};

std::string difference(const ConfigField& field, const TransformerConfig& ours,
                       const TransformerConfig& theirs) {
  const std::string_view name = field.option.empty() ? field.json : field.option;
  return fmt::format("{} {} (it has {})", name, to_text(field, ours), to_text(field, theirs));
}

std::vector<std::string> differences(TransformerConfig ours, TransformerConfig theirs) {
  forget_what_does_not_matter(ours);
  forget_what_does_not_matter(theirs);
  std::vector<std::string> all;
  // The order of sinusoids means nothing where only one of the two has any.
  if (ours.positions != theirs.positions) ours.sinusoid_order = theirs.sinusoid_order;
  for (const ConfigField& field : config_fields()) {
    const bool is_there = field.exists(ours.kind);
    if (is_there && !is_same(field, ours, theirs)) all.push_back(difference(field, ours, theirs));
  }
  return all;
}

Fit fit(const Family& family, const TransformerConfig& config) {
  const auto its_class = std::ranges::find(family.classes, config.kind, &FamilyClass::kind);
  if (its_class == family.classes.end()) {
    return {family.model_type, config, {std::string(name_of(config.kind))}};
  }
  const TransformerConfig ours = as_in(family, config);
  TransformerConfig theirs = read_back(family, *its_class, ours);
  std::vector<std::string> without_home = differences(ours, theirs);
  return {family.model_type, std::move(theirs), std::move(without_home)};
}

}  // namespace

TransformerConfig family_form(const TransformerConfig& config) {
  std::optional<Fit> nearest;
  for (const std::string_view name : candidates(config.kind)) {
    Fit one = fit(*find_family(name), config);
    if (one.without_home.empty()) return one.form;
    if (!nearest || one.without_home.size() < nearest->without_home.size()) {
      nearest = std::move(one);
    }
  }
  fail(ErrorKind::model, "expected settings of a family of Hugging Face (",
       fmt::format("{}", fmt::join(candidates(config.kind), ", ")), "), found some that ",
       nearest->family, ", the nearest, has no place for: ",
       fmt::format("{}", fmt::join(nearest->without_home, ", ")));
}

namespace {

using Tensors = std::map<std::string, Tensor>;  // by name

// The same model with its dimensions in another order: all sines first, then all cosines.
class SinesFirst {
 public:
  explicit SinesFirst(Index model_dim) : half_(model_dim / 2) {}

  Tensor operator()(const std::string& name, const Tensor& from) const {
    if (reads_width(name)) return reorder(from, from.dim(0), 1);
    if (writes_width(name)) return reorder(from, 1, from.rank() == 1 ? 1 : from.dim(1));
    return from;
  }

 private:
  static bool is_output(const std::string& name) { return name.starts_with("output."); }
  // A matrix whose rows are as long as the width: embeddings and what is multiplied with hidden
  // vectors.
  static bool reads_width(const std::string& name) {
    return name == "output.weight" || (name.ends_with(".weight") && !writes_width(name));
  }
  // One number, or one row, for each dimension: norms and what is added to hidden vectors.
  static bool writes_width(const std::string& name) {
    if (is_output(name)) return false;
    return name.ends_with(".output.weight") || name.ends_with(".output.bias") ||
           name.ends_with("norm.gain") || name.ends_with("norm.bias");
  }

  Index old_place(Index place) const { return place < half_ ? 2 * place : 2 * (place - half_) + 1; }

  // [outer, D, inner]
  Tensor reorder(const Tensor& from, Index outer, Index inner) const {
    Tensor to = Tensor::empty(from.shape());
    const Index width = 2 * half_;
    for (Index o = 0; o < outer; ++o) {
      for (Index place = 0; place < width; ++place) {
        std::copy_n(from.data() + (o * width + old_place(place)) * inner, inner,
                    to.data() + (o * width + place) * inner);
      }
    }
    return to;
  }

  Index half_;
};

Tensor scale_table(const Tensor& from, float factor) {
  Tensor to = Tensor::empty(from.shape());
  std::ranges::transform(from.values(), to.data(), [factor](float x) { return x * factor; });
  return to;
}

Tensor position_table(const TransformerConfig& config, const Shape& shape) {
  Tensor table = Tensor::zeros(shape);
  if (config.positions != Positions::sinusoidal) return table;
  const Tensor sinusoids =
      nn::shared_sinusoidal_table(shape.dim(0), shape.dim(1), config.sinusoid_order);
  std::copy_n(sinusoids.data(), shape.dim(0) * shape.dim(1), table.data());
  return table;
}

// A parameter of the form: one of the model's own, or what stands for what it does not have.
Tensor parameter_of_form(const TransformerConfig& config, const Tensors& ours,
                         const std::string& name, const Shape& shape) {
  const auto found = ours.find(name);
  if (found != ours.end()) return found->second;
  if (name == "output.weight") return ours.at("embedding.weight");
  if (name.ends_with("positions.weight")) return position_table(config, shape);
  if (name == "token_type_embedding.weight") return Tensor::zeros(shape);
  check_as(ErrorKind::model, name.ends_with(".bias"), "expected a model with ", name,
           ", found one without");
  return Tensor::zeros(shape);
}

bool is_input_table(const std::string& name) {
  return name == "embedding.weight" || name.ends_with("_embedding.weight");
}

}  // namespace

std::vector<nn::NamedTensor> family_parameters(const TransformerConfig& config,
                                               const TransformerConfig& form,
                                               std::span<const nn::NamedTensor> parameters) {
  Tensors ours;
  for (const nn::NamedTensor& parameter : parameters) ours[parameter.name] = parameter.value;
  const float factor = embedding_scale(config) / embedding_scale(form);
  const bool has_other_order = config.positions == Positions::sinusoidal &&
                               form.positions == Positions::sinusoidal &&
                               config.sinusoid_order != form.sinusoid_order;
  const SinesFirst sines_first(form.model_dim);
  return with_model_class(form.kind, [&]<typename AnyModel>(std::type_identity<AnyModel>) {
    AnyModel model(form, nn::Initializer::meta());
    std::vector<nn::NamedTensor> theirs = nn::named_parameters(model);
    for (nn::NamedTensor& parameter : theirs) {
      Tensor value =
          parameter_of_form(config, ours, parameter.name, Shape(parameter.value.shape()));
      if (factor != 1 && is_input_table(parameter.name)) value = scale_table(value, factor);
      parameter.value = has_other_order ? sines_first(parameter.name, value) : value;
    }
    return theirs;
  });
}

}  // namespace heed::models
