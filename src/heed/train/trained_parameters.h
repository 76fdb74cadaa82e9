// The parameters that a run trains: all of a model's, all but frozen ones, or a LoRA adapter.
#pragma once

#include <string>
#include <vector>

#include "heed/base/random.h"
#include "heed/models/lora_adapter.h"
#include "heed/train/recipe.h"
#include "heed/train/task.h"

namespace heed::train {

// Does a resumed run need its base model again? With frozen parameters or LoRA it does, because
// checkpoints hold trained parameters only.
bool needs_base_model(const TrainingOptions& options);

class TrainedParameters {
 public:
  // Freezes what TrainingOptions::freeze names. With TrainingOptions::lora (Hu and others 2021) the
  // matrices of attention and feed-forward get an adapter of that rank; the adapter and the model's
  // head are trained, and all else is frozen. The task is prepared, has the weights of its base
  // model, and outlives this. Refuses (ErrorKind::usage) both at once, a name that no parameter
  // has, and freezing all.
  TrainedParameters(Task& task, const TrainingOptions& options);
  TrainedParameters(const TrainedParameters&) = delete;
  TrainedParameters& operator=(const TrainedParameters&) = delete;

  // The parameters that the optimizer updates and that checkpoints and averages hold.
  const std::vector<nn::NamedTensor>& list() const { return trained_; }

  // Gives the model its weights for a forward pass: with LoRA base + scale * up x down, and
  // gradients reach the adapter unless NoGrad is in force; otherwise they are in place already.
  void merge_adapter() const;
  // Writes the adapter of a model of this configuration into its folder: adapter.safetensors, or of
  // another family's model, which was read from `base_model`, PEFT's files in adapter/. Nothing
  // without LoRA.
  void save_adapter(const std::string& folder, const models::TransformerConfig& model,
                    const std::string& base_model) const;

 private:
  // A parameter of the model itself, not a copy that shares its values.
  struct Parameter {
    std::string name;
    Tensor* value;
  };
  struct AdaptedWeight {
    Tensor* weight;  // the model's
    Tensor base;     // its value in the base model
  };

  static std::vector<Parameter> parameters_of(Task& task);
  static bool is_adapted(const Parameter& parameter);
  static bool is_replaced(const Parameter& parameter);
  void freeze(const std::vector<Parameter>& parameters, const std::vector<std::string>& names);
  void add_adapter(const std::vector<Parameter>& parameters, const TrainingOptions& options);
  void adapt(const Parameter& parameter, Index rank, Rng& rng);

  std::vector<nn::NamedTensor> trained_;
  std::vector<nn::NamedTensor> base_;  // of LoRA: all parameters, for their names and shapes
  models::LoraAdapter adapter_;
  std::vector<AdaptedWeight> adapted_;  // in the order of the adapter's matrices; empty: no LoRA
};

}  // namespace heed::train
