#include "heed/train/trained_parameters.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "heed/base/error.h"
#include "heed/models/initial_step.h"
#include "heed/models/model_folder.h"
#include "heed/models/peft_adapter.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"

namespace heed::train {
namespace {

// alpha / rank of the paper.
constexpr float adapter_scale = 2;

// Keeps the random numbers of the adapter apart from those of the weights.
constexpr std::uint64_t adapter_place = 0x6c6f7261;

std::vector<std::string> split_names(const std::string& list) {
  std::vector<std::string> names;
  std::istringstream in(list);
  for (std::string name; std::getline(in, name, ',');) {
    if (!name.empty()) names.push_back(name);
  }
  return names;
}

// "encoder" is a prefix of "encoder.0.norm.gain", but not of "encoder_norm".
bool is_prefix(const std::string& prefix, const std::string& name) {
  return name.starts_with(prefix) && (name.size() == prefix.size() || name[prefix.size()] == '.');
}

}  // namespace

bool needs_base_model(const TrainingOptions& options) {
  return options.lora > 0 || !options.freeze.empty();
}

TrainedParameters::TrainedParameters(Task& task, const TrainingOptions& options) {
  check_as(ErrorKind::usage, options.lora == 0 || options.freeze.empty(),
           "`lora` and `freeze`: expected one of them, found both");
  const std::vector<Parameter> parameters = parameters_of(task);
  if (options.lora > 0) {
    add_adapter(parameters, options);
  } else {
    freeze(parameters, split_names(options.freeze));
  }
}

std::vector<TrainedParameters::Parameter> TrainedParameters::parameters_of(Task& task) {
  struct Collector : nn::ParameterVisitor {
    std::vector<Parameter> all;
    void visit(const std::string& name, Tensor& value) override { all.push_back({name, &value}); }
  } collector;
  task.visit_parameters(collector);
  return std::move(collector.all);
}

void TrainedParameters::freeze(const std::vector<Parameter>& parameters,
                               const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const bool is_known = std::ranges::any_of(
        parameters, [&](const Parameter& parameter) { return is_prefix(name, parameter.name); });
    check_as(ErrorKind::usage, is_known,
             "`freeze`: expected a prefix of a parameter's name, such as ", parameters.front().name,
             ", found ", name);
  }
  for (const Parameter& parameter : parameters) {
    const bool is_frozen = std::ranges::any_of(
        names, [&](const std::string& name) { return is_prefix(name, parameter.name); });
    if (is_frozen) {
      *parameter.value = parameter.value->detach();
    } else {
      trained_.push_back({parameter.name, *parameter.value});
    }
  }
  check_as(ErrorKind::usage, !trained_.empty(),
           "`freeze`: expected at least one trainable parameter, found none");
}

bool TrainedParameters::is_adapted(const Parameter& parameter) {
  const bool is_inside = parameter.name.find("attention.") != parameter.name.npos ||
                         parameter.name.find("feed_forward.") != parameter.name.npos;
  return is_inside && parameter.name.ends_with(".weight") && parameter.value->rank() == 2;
}

// Heads are new, or for other labels.
bool TrainedParameters::is_replaced(const Parameter& parameter) {
  return is_prefix("head", parameter.name) || is_prefix("head_layer", parameter.name);
}

void TrainedParameters::add_adapter(const std::vector<Parameter>& parameters,
                                    const TrainingOptions& options) {
  for (const Parameter& parameter : parameters) base_.push_back({parameter.name, *parameter.value});
  adapter_.base = models::weights_hash(base_);
  adapter_.scale = adapter_scale;
  Rng rng(random_key(options.seed, models::initial_step, adapter_place));
  for (const Parameter& parameter : parameters) {
    if (is_adapted(parameter)) {
      adapt(parameter, options.lora, rng);
    } else if (is_replaced(parameter)) {
      trained_.push_back({parameter.name, *parameter.value});
      adapter_.replaced.push_back(trained_.back());
    } else {
      *parameter.value = parameter.value->detach();
    }
  }
}

// `up` starts at zero, so that the adapted weight starts as that of the base model.
void TrainedParameters::adapt(const Parameter& parameter, Index rank, Rng& rng) {
  const Tensor base = parameter.value->detach();
  const Index out_dim = base.dim(0), in_dim = base.dim(1);
  Tensor up = Tensor::zeros({out_dim, rank}), down = Tensor::randn({rank, in_dim}, rng);
  const float deviation = 1 / std::sqrt(static_cast<float>(in_dim));
  for (float& value : down.values()) value *= deviation;
  up.require_gradient();
  down.require_gradient();
  trained_.push_back({parameter.name + ".lora_up", up});
  trained_.push_back({parameter.name + ".lora_down", down});
  adapter_.matrices.push_back({parameter.name, up, down});
  adapted_.push_back({parameter.value, base});
}

void TrainedParameters::merge_adapter() const {
  for (std::size_t i = 0; i < adapted_.size(); ++i) {
    const auto& [name, up, down] = adapter_.matrices[i];
    *adapted_[i].weight =
        ops::add(adapted_[i].base, ops::scale(ops::matmul(up, down), adapter_.scale));
  }
}

void TrainedParameters::save_adapter(const std::string& folder,
                                     const models::TransformerConfig& model,
                                     const std::string& base_model) const {
  if (adapted_.empty()) return;
  if (model.family.empty()) {
    models::save_adapter(models::adapter_path(folder), adapter_);
  } else {
    models::save_peft_adapter(models::peft_folder(folder), adapter_, {model, base_}, base_model);
  }
}

}  // namespace heed::train
