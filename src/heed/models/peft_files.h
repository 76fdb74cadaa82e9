// The files of an adapter in PEFT's layout, and its way to name layers.
#pragma once

#include <string>
#include <string_view>

#include "heed/base/error.h"
#include "heed/models/family.h"

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

inline const Family& peft_family(const TransformerConfig& config) {
  const Family* family = find_family(config.family);
  check_as(ErrorKind::model, family != nullptr,
           "adapter: expected a model of Hugging Face's for an adapter of PEFT's, found ",
           name_of(config.kind));
  return *family;
}

}  // namespace heed::models
