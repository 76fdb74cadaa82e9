// Adam and AdamW over all parameters of a model at once.
#pragma once

#include <string>
#include <vector>

#include "heed/nn/module.h"

namespace heed::train {

enum class OptimizerKind { adam, adamw };

struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::adam;
  double beta1 = 0.9;
  double beta2 = 0.98;
  double epsilon = 1e-8;
  // Of matrices only, not of gains and biases. Adam adds it to the gradient; AdamW (Loshchilov and
  // Hutter 2019) subtracts it from the weight.
  double weight_decay = 0;
  double clip = 0;  // largest norm of the whole gradient; 0: no clipping
};

class Optimizer {
 public:
  // The tensors share their values with the model's own, and require gradients.
  Optimizer(std::vector<nn::NamedTensor> parameters, const OptimizerOptions& options);

  struct Step {
    double gradient_norm = 0;  // of the scaled gradient, before clipping
    bool is_applied = false;   // false when the norm is not finite: nothing changed
  };
  // Multiplies the gradients by `gradient_scale`, clips them, and updates the weights. A parameter
  // without a gradient stays as it is. The result does not depend on the number of threads.
  Step step(double learning_rate, double gradient_scale);
  void clear_gradients();
  // The names of the parameters whose gradient is not finite, in their order.
  std::vector<std::string> non_finite_gradients() const;

  // Part of a checkpoint. One mean and one square for each parameter, in their order.
  struct Moments {
    Tensor mean;
    Tensor square;
  };
  const std::vector<nn::NamedTensor>& parameters() const { return parameters_; }
  std::vector<Moments>& moments() { return moments_; }
  Index num_steps() const { return num_steps_; }
  void set_num_steps(Index num_steps) { num_steps_ = num_steps; }

 private:
  // A stretch of one parameter: what one thread works on at a time.
  struct Piece {
    std::size_t parameter;
    Index begin;
    Index size;
  };

  std::vector<double> squared_gradients() const;  // the sum of squares of every piece

  std::vector<nn::NamedTensor> parameters_;
  std::vector<Moments> moments_;
  std::vector<Piece> pieces_;
  OptimizerOptions options_;
  Index num_steps_ = 0;
};

}  // namespace heed::train
