// Low-rank changes of a model's matrices (Hu and others 2021), small enough to be kept apart from
// it.
#pragma once

#include <string>
#include <vector>

#include "heed/nn/module.h"

namespace heed::models {

// The weight [O, I] of this name changes by scale * up [O, R] x down [R, I].
struct LowRankChange {
  std::string name;
  Tensor up, down;
};

struct Adapter {
  std::string base;  // the hash of the weights that it changes
  float scale = 1;
  std::vector<LowRankChange> changes;
  std::vector<nn::NamedTensor> replaced;  // whole parameters that came in place of the model's
};

// adapter.safetensors of a model folder.
std::string adapter_path(const std::string& folder);
void save_adapter(const std::string& path, const Adapter& adapter);
// Refuses (ErrorKind::model) what is no adapter, and shapes that do not fit each other.
Adapter load_adapter(const std::string& path);

// Adds the changes to the parameters, which become others. Refuses (ErrorKind::model) weights of
// another hash than those that the adapter was learned for.
void merge(const Adapter& adapter, std::vector<nn::NamedTensor>& parameters);

}  // namespace heed::models
