// The layers of a Hugging Face model as PEFT names them, and which of our parameters each holds.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/models/family.h"
#include "heed/nn/module.h"

namespace heed::models {

// A matrix of theirs, without ".weight": transformer.h.0.attn.c_attn. Its output rows are those of
// one or several of our matrices.
struct PeftModule {
  std::string name;
  std::vector<std::string> other_names;  // that files may have for it
  std::vector<std::string> ours;         // names of parameters
  std::vector<Index> num_rows;           // of each
  Index in_dim = 0;
  TensorLayout layout = TensorLayout::same;

  Index out_dim() const;
};

// Where a row of a module is in our matrices.
struct RowPlace {
  std::size_t part = 0;
  Index row = 0;
};
std::vector<RowPlace> row_places(const PeftModule& module, Index num_heads);

// All matrices of a model with these parameters. A class of model is saved with or without the
// prefix of its family; PEFT's files have it, and other_names do not.
std::vector<PeftModule> peft_modules(const Family& family,
                                     std::span<const nn::NamedTensor> parameters);

// The name of our parameter that a tensor of theirs holds alone and as it is; empty if none is.
std::string parameter_of_tensor(const Family& family, std::span<const nn::NamedTensor> parameters,
                                const std::string& tensor);
// And the tensor of theirs that holds our parameter so; empty if none does.
std::string tensor_of_parameter(const Family& family, std::span<const nn::NamedTensor> parameters,
                                const std::string& parameter);

}  // namespace heed::models
