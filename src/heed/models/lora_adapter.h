// LoRA adapters (Hu and others 2021): low-rank updates of a model's weights in a file of their own.
#pragma once

#include <string>
#include <vector>

#include "heed/nn/module.h"

namespace heed::models {

// The weight [O, I] of this name gets scale * up [O, R] x down [R, I] added.
struct LoraMatrices {
  std::string name;
  Tensor up, down;
};

struct LoraAdapter {
  std::string base;  // the hash of the base model's weights; empty: not known
  float scale = 1;
  std::vector<LoraMatrices> matrices;
  std::vector<nn::NamedTensor> replaced;  // whole parameters in place of the model's
};

// adapter.safetensors of a model folder.
std::string adapter_path(const std::string& folder);
void save_adapter(const std::string& path, const LoraAdapter& adapter);
// Refuses (ErrorKind::model) what is no adapter, matrices without their other half, shapes that do
// not fit each other, and numbers that are not finite.
LoraAdapter load_adapter(const std::string& path);

// Adds the adapter to the parameters, whose tensors become new ones. Refuses (ErrorKind::model)
// weights of another hash than the base model's, if it is known.
void merge(const LoraAdapter& adapter, std::vector<nn::NamedTensor>& parameters);

}  // namespace heed::models
