#include "heed/train/optimizer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/kernels/adam.h"

namespace heed::train {
namespace {

constexpr Index piece_size = 32768;

kernels::AdamStep adam_step(const OptimizerOptions& options, double learning_rate,
                            double gradient_scale, Index step, bool is_decayed) {
  const double decay = is_decayed ? options.weight_decay : 0;
  const bool is_decoupled = options.kind == OptimizerKind::adamw;
  const auto t = static_cast<double>(step);
  return {
      .gradient_scale = static_cast<float>(gradient_scale),
      .l2 = static_cast<float>(is_decoupled ? 0 : decay),
      .keep = static_cast<float>(is_decoupled ? 1 - learning_rate * decay : 1),
      .beta1 = static_cast<float>(options.beta1),
      .beta2 = static_cast<float>(options.beta2),
      .step_size = static_cast<float>(learning_rate / (1 - std::pow(options.beta1, t))),
      .root_correction = static_cast<float>(1 / std::sqrt(1 - std::pow(options.beta2, t))),
      .epsilon = static_cast<float>(options.epsilon),
  };
}

}  // namespace

Optimizer::Optimizer(std::vector<nn::NamedTensor> parameters, const OptimizerOptions& options)
    : parameters_(std::move(parameters)), options_(options) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor& value = parameters_[i].value;
    check(value.needs_gradient(), "optimizer: expected a parameter that requires a gradient, got ",
          parameters_[i].name);
    moments_.push_back({Tensor::zeros(value.shape()), Tensor::zeros(value.shape())});
    for (Index begin = 0; begin < value.size(); begin += piece_size) {
      pieces_.push_back({i, begin, std::min(piece_size, value.size() - begin)});
    }
  }
}

std::vector<double> Optimizer::squared_gradients() const {
  std::vector<double> squares(pieces_.size(), 0.0);
  parallel_for(std::ssize(pieces_), [&](Index i) {
    const Piece& piece = pieces_[i];
    const Tensor& gradient = parameters_[piece.parameter].value.gradient();
    if (!gradient.is_defined()) return;
    squares[i] = kernels::sum_of_squares(gradient.data() + piece.begin, piece.size);
  });
  return squares;
}

std::vector<std::string> Optimizer::non_finite_gradients() const {
  const std::vector<double> squares = squared_gradients();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const std::string& name = parameters_[pieces_[i].parameter].name;
    if (std::isfinite(squares[i]) || (!names.empty() && names.back() == name)) continue;
    names.push_back(name);
  }
  return names;
}

Optimizer::Step Optimizer::step(double learning_rate, double gradient_scale) {
  double total = 0;
  for (const double square : squared_gradients()) total += square;
  const double norm = std::sqrt(total) * gradient_scale;
  if (!std::isfinite(norm)) return {norm, false};
  ++num_steps_;

  const bool is_clipped = options_.clip > 0 && norm > options_.clip;
  const double scale = is_clipped ? gradient_scale * (options_.clip / norm) : gradient_scale;
  const auto matrices = adam_step(options_, learning_rate, scale, num_steps_, true);
  const auto vectors = adam_step(options_, learning_rate, scale, num_steps_, false);
  parallel_for(std::ssize(pieces_), [&](Index i) {
    const Piece& piece = pieces_[i];
    Tensor& weight = parameters_[piece.parameter].value;
    Moments& moments = moments_[piece.parameter];
    const Tensor& gradient = std::as_const(weight).gradient();
    if (!gradient.is_defined()) return;
    kernels::adam(weight.data() + piece.begin, moments.mean.data() + piece.begin,
                  moments.square.data() + piece.begin, gradient.data() + piece.begin, piece.size,
                  weight.rank() >= 2 ? matrices : vectors);
  });
  return {norm, true};
}

void Optimizer::clear_gradients() {
  for (nn::NamedTensor& parameter : parameters_) parameter.value.clear_gradient();
}

}  // namespace heed::train
