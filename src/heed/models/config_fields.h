// The settings of a network, one row each: config.json, the options of training, range checks and
// the comparison of two networks all follow from this table.
//
// A new setting is a member of TransformerConfig, or of a part of it, and a row here.
#pragma once

#include <array>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "heed/models/transformer_config.h"

namespace heed::models {

// From min to max; below max if it is open.
struct Range {
  double min = 0, max = 0;
  bool is_open = false;
};

// A config.json that lacks a field: is refused, or was written before the setting existed, by a
// network without it (zero), or with its default.
enum class Missing { refuse, zero, keep_default };

// Where a setting is: a member of the configuration, or of a part of it.
template <typename Value>
using ConfigMember = Value& (*)(TransformerConfig&);

template <typename Value>
const Value& value_of(const TransformerConfig& config, ConfigMember<Value> member) {
  return member(const_cast<TransformerConfig&>(config));  // which only finds it
}

// No setting may differ when a run is resumed.
struct ConfigField {
  std::string_view json;         // its key
  std::string_view option = {};  // its name for training, without the dashes; empty: no option
  std::array<std::string_view, 3> aliases = {};  // other names of the option; the rest is empty
  std::string_view group = {};                   // of options, for help
  std::string_view description = {};             // for help
  std::string_view noun = {};                    // for messages about its range
  std::variant<ConfigMember<Index>, ConfigMember<int>, ConfigMember<float>, ConfigMember<double>,
               ConfigMember<bool>, ConfigMember<std::optional<float>>,
               ConfigMember<std::optional<double>>, ConfigMember<std::optional<bool>>,
               ConfigMember<std::optional<Activation>>, ConfigMember<std::vector<Index>>,
               ConfigMember<std::vector<int>>, ConfigMember<std::vector<double>>,
               ConfigMember<std::vector<std::string>>, ConfigMember<ModelKind>,
               ConfigMember<ops::Similarity>, ConfigMember<NormPlace>, ConfigMember<NormKind>,
               ConfigMember<Positions>, ConfigMember<Activation>, ConfigMember<Tying>,
               ConfigMember<Pooling>, ConfigMember<HeadLayer>, ConfigMember<EmbeddingProjection>,
               ConfigMember<AttentionBias>, ConfigMember<BlockForm>,
               ConfigMember<ops::SinusoidOrder>, ConfigMember<ops::RotaryScaling>,
               ConfigMember<ProblemType>, ConfigMember<WeightFormat>>
      member;
  Range range = {};  // of numbers
  Missing missing = Missing::keep_default;
  bool (*exists)(ModelKind) = [](ModelKind) { return true; };  // for models of this kind
  // Shapes or interprets the weights: a model that is initialised from another has the same.
  bool is_architecture = false;
  // config.json lacks the field when it has its default, as older files do.
  bool is_omitted_by_default = false;
};

// In the order of config.json; the kind of the model is the first.
std::span<const ConfigField> config_fields();

// The range of an option. Sizes have no upper bound here, only in validate; a probability ends a
// little below 1.
template <typename Number>
std::pair<Number, Number> option_range(const Range& range) {
  if (range.is_open) return {static_cast<Number>(range.min), static_cast<Number>(0.99f)};
  const bool is_size = range.max > 1000;
  return {static_cast<Number>(range.min),
          is_size ? std::numeric_limits<Number>::max() : static_cast<Number>(range.max)};
}

// Refuses numbers outside of their ranges; see validate.
void check_ranges(const TransformerConfig& config, std::string_view what, ErrorKind kind);

}  // namespace heed::models
