// The files of an adapter in PEFT's layout, and its way to name layers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "heed/models/family_map.h"

namespace heed::models {

// What the names of tensors begin with: the attribute in which PEFT keeps the model that it wraps.
inline constexpr std::string_view peft_prefix = "base_model.model.";
// Of the metadata of the tensors, where Heed has written them: the hash of the base model.
inline constexpr const char* peft_base_entry = "base";

inline std::string peft_config_path(const std::string& folder) {
  return folder + "/adapter_config.json";
}
inline std::string peft_tensors_path(const std::string& folder) {
  return folder + "/adapter_model.safetensors";
}

// Does a name of the settings stand for this layer? It is the name, or the end of it.
inline bool is_peft_module(const std::string& module, const std::string& name) {
  return module == name || module.ends_with('.' + name);
}

// The tensors of a model of one of Hugging Face's families.
FamilyMap peft_tensors(const TransformerConfig& config);

// The layer whose matrix the tensor is: its name without ".weight". Nothing for other tensors.
std::optional<std::string> peft_module(const MappedTensor& tensor);

// How the rows of our parameters stand in B [O, R], the adapter's second matrix.
MappedTensor peft_rows(const MappedTensor& tensor, Index rank);

}  // namespace heed::models
