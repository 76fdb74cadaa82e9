#include "heed/train/fine_tuning.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/models/initial_step.h"
#include "heed/models/lora_adapter.h"
#include "heed/models/model_folder.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"

namespace heed::train {
namespace {

// Twice what the product gives: with changes that begin at zero, the usual choice.
constexpr float adapter_scale = 2;

// Keeps the random numbers of the changes apart from those of the weights.
constexpr std::uint64_t adapter_place = 0x6c6f7261;

// Where the model keeps a parameter.
struct Slot {
  std::string name;
  Tensor* value;
};

std::vector<Slot> slots_of(TrainingTask& task) {
  struct Collector : nn::ParameterVisitor {
    std::vector<Slot> found;
    void visit(const std::string& name, Tensor& value) override { found.push_back({name, &value}); }
  } collector;
  task.visit_parameters(collector);
  return std::move(collector.found);
}

std::vector<std::string> split_names(const std::string& list) {
  std::vector<std::string> names;
  std::istringstream in(list);
  for (std::string name; std::getline(in, name, ',');) {
    if (!name.empty()) names.push_back(name);
  }
  return names;
}

// "encoder" begins "encoder.0.norm.gain", but not "encoder_norm".
bool begins(const std::string& name, const std::string& parameter) {
  return parameter.starts_with(name) &&
         (parameter.size() == name.size() || parameter[name.size()] == '.');
}

bool is_adapted(const Slot& slot) {
  const bool is_inside = slot.name.find("attention.") != slot.name.npos ||
                         slot.name.find("feed_forward.") != slot.name.npos;
  return is_inside && slot.name.ends_with(".weight") && slot.value->rank() == 2;
}

// Passes everything on to the task; what differs is which parameters are trained.
class PartlyTrained : public TrainingTask {
 public:
  explicit PartlyTrained(std::unique_ptr<TrainingTask> task) : task_(std::move(task)) {}

  const models::TransformerConfig& config() const override { return task_->config(); }
  void visit_parameters(nn::ParameterVisitor& visitor) override {
    task_->visit_parameters(visitor);
  }
  std::vector<nn::NamedTensor> parameters() override { return trained_; }
  RunStart run_start(Index epoch, Index update) override { return task_->run_start(epoch, update); }
  Index num_batches(Index epoch) override { return task_->num_batches(epoch); }
  BatchLoss loss(Index epoch, Index batch, nn::ForwardContext& context) override {
    return task_->loss(epoch, batch, context);
  }
  bool has_validation() const override { return task_->has_validation(); }
  std::optional<double> validation_loss(const ShouldStop& should_stop) const override {
    return task_->validation_loss(should_stop);
  }
  bool add_scores(ValidationReport& report, const ShouldStop& should_stop) const override {
    return task_->add_scores(report, should_stop);
  }
  void save_model(const std::string& folder) const override { task_->save_model(folder); }
  void save_vocabulary(const std::string& folder) const override { task_->save_vocabulary(folder); }

 protected:
  std::unique_ptr<TrainingTask> task_;
  std::vector<nn::NamedTensor> trained_;
};

class FrozenParts : public PartlyTrained {
 public:
  FrozenParts(std::unique_ptr<TrainingTask> task, const std::vector<std::string>& frozen)
      : PartlyTrained(std::move(task)) {
    const std::vector<Slot> slots = slots_of(*task_);
    for (const std::string& name : frozen) {
      check_as(
          ErrorKind::usage,
          std::ranges::any_of(slots, [&](const Slot& slot) { return begins(name, slot.name); }),
          "--freeze: expected the beginning of a parameter's name, such as ", slots.front().name,
          ", found ", name);
    }
    for (const Slot& slot : slots) {
      const bool is_frozen = std::ranges::any_of(
          frozen, [&](const std::string& name) { return begins(name, slot.name); });
      if (is_frozen) {
        *slot.value = slot.value->detach();
      } else {
        trained_.push_back({slot.name, *slot.value});
      }
    }
    check_as(ErrorKind::usage, !trained_.empty(),
             "--freeze: expected a part that is left to train, found none");
  }
};

class LowRankChanges : public PartlyTrained {
 public:
  LowRankChanges(std::unique_ptr<TrainingTask> task, Index rank, std::uint64_t seed)
      : PartlyTrained(std::move(task)) {
    Rng rng(random_key(seed, models::initial_step, adapter_place));
    adapter_.base = models::weights_hash(nn::named_parameters(*task_));
    adapter_.scale = adapter_scale;
    for (const Slot& slot : slots_of(*task_)) {
      if (is_adapted(slot)) {
        add_change(slot, rank, rng);
      } else if (begins("head", slot.name)) {
        trained_.push_back({slot.name, *slot.value});
        adapter_.replaced.push_back(trained_.back());
      } else {
        *slot.value = slot.value->detach();
      }
    }
  }

  BatchLoss loss(Index epoch, Index batch, nn::ForwardContext& context) override {
    put_weights_in_place();
    return task_->loss(epoch, batch, context);
  }
  std::optional<double> validation_loss(const ShouldStop& should_stop) const override {
    put_values_in_place();
    return task_->validation_loss(should_stop);
  }
  bool add_scores(ValidationReport& report, const ShouldStop& should_stop) const override {
    put_values_in_place();
    return task_->add_scores(report, should_stop);
  }
  void save_model(const std::string& folder) const override {
    put_values_in_place();
    task_->save_model(folder);
    models::save_adapter(models::adapter_path(folder), adapter_);
  }

 private:
  struct Adapted {
    Tensor* weight;  // the model's
    Tensor before;   // what it was
  };

  // The change begins at zero, because `up` does.
  void add_change(const Slot& slot, Index rank, Rng& rng) {
    const Tensor before = slot.value->detach();
    const Index out_dim = before.dim(0), in_dim = before.dim(1);
    Tensor up = Tensor::zeros({out_dim, rank}), down = Tensor::randn({rank, in_dim}, rng);
    const float spread = 1 / std::sqrt(static_cast<float>(in_dim));
    for (float& value : down.values()) value *= spread;
    up.require_gradient();
    down.require_gradient();
    trained_.push_back({slot.name + ".lora_up", up});
    trained_.push_back({slot.name + ".lora_down", down});
    adapter_.matrices.push_back({slot.name, up, down});
    adapted_.push_back({slot.value, before});
  }

  // Each weight as a result of its change, so that gradients run back to it.
  void put_weights_in_place() const {
    for (std::size_t i = 0; i < adapted_.size(); ++i) {
      const models::LoraMatrices& change = adapter_.matrices[i];
      *adapted_[i].weight = ops::add(
          adapted_[i].before, ops::scale(ops::matmul(change.up, change.down), adapter_.scale));
    }
  }
  void put_values_in_place() const {
    const NoGrad no_grad;
    put_weights_in_place();
  }

  models::LoraAdapter adapter_;
  std::vector<Adapted> adapted_;  // in the order of the changes
};

}  // namespace

bool needs_beginning(const TrainingOptions& options) {
  return options.lora > 0 || !options.freeze.empty();
}

std::unique_ptr<TrainingTask> fine_tuned(std::unique_ptr<TrainingTask> task,
                                         const TrainingOptions& options) {
  check_as(ErrorKind::usage, options.lora == 0 || options.freeze.empty(),
           "--lora and --freeze: expected one of them, found both");
  if (options.lora > 0) {
    return std::make_unique<LowRankChanges>(std::move(task), options.lora, options.seed);
  }
  const std::vector<std::string> frozen = split_names(options.freeze);
  if (frozen.empty()) return task;
  return std::make_unique<FrozenParts>(std::move(task), frozen);
}

}  // namespace heed::train
