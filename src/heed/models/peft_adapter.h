// LoRA adapters in the layout of Hugging Face's PEFT library: a folder with adapter_config.json and
// adapter_model.safetensors.
#pragma once

#include <span>
#include <string>

#include "heed/models/lora_adapter.h"
#include "heed/models/transformer_config.h"

namespace heed::models {

// adapter/ of a model folder: beside the model itself, its files would be taken for those of an
// adapter alone.
inline std::string peft_folder(const std::string& folder) { return folder + "/adapter"; }

// The model that an adapter is for: one of Hugging Face's families, and its parameters.
struct PeftBase {
  TransformerConfig config;
  std::vector<nn::NamedTensor> parameters;
};

// An adapter of a matrix that holds several of ours becomes one adapter for each: they share the
// matrix A and have their rows of B. Refuses (ErrorKind::model) what is no LoRA adapter or one with
// an extension (DoRA, trained biases, replicated layers), names that the model does not have, and
// what LoraAdapter refuses. The hash of the base model is known if Heed wrote the adapter.
LoraAdapter load_peft_adapter(const std::string& folder, const PeftBase& base);

// Adapters of several of our matrices that are one of theirs become one of their ranks' sum, whose
// B is zero outside of each one's rows and columns: the same weights. `path` is where PEFT finds
// the base model.
void save_peft_adapter(const std::string& folder, const LoraAdapter& adapter, const PeftBase& base,
                       const std::string& path);

// adapter.safetensors of Heed, or a folder of PEFT's.
LoraAdapter load_any_adapter(const std::string& path, const PeftBase& base);

}  // namespace heed::models
