// One update of the weights: the gradients of a few batches, and the optimizer's step.
#pragma once

#include <functional>
#include <string>

#include "heed/train/checkpoint.h"
#include "heed/train/optimizer.h"
#include "heed/train/recipe.h"
#include "heed/train/task.h"
#include "heed/train/trained_parameters.h"
#include "heed/train/training_observer.h"

namespace heed::train {

// Refuses (ErrorKind::failed) more parameters than can be trained in the memory that there is.
Optimizer make_optimizer(const TrainedParameters& parameters, const TrainingOptions& options);

class UpdateStep {
 public:
  // All of them outlive it.
  UpdateStep(Task& task, const TrainedParameters& parameters, const TrainingOptions& options,
             Optimizer& optimizer)
      : task_(task), parameters_(parameters), options_(options), optimizer_(optimizer) {}

  // The learning rate of an update, asked for when its gradient is there. Updates count from 1.
  using RateOf = std::function<double(Index update)>;

  // Does the next update, and moves the state's update, batch and epoch to the one after it. An
  // update whose loss is not finite or beyond Task::max_loss(), or whose gradient is not finite, is
  // skipped: the report says why. The times are left to the caller.
  UpdateReport run(TrainingState& state, const RateOf& rate_of);

 private:
  struct Batches {
    Index epoch, begin, end;
  };

  Batches accumulate_gradients(TrainingState& state, UpdateReport& report);
  void apply_gradients(UpdateReport& report, const Batches& batches);
  std::string describe_problem(const UpdateReport& report, const Batches& batches);

  Task& task_;
  const TrainedParameters& parameters_;
  const TrainingOptions& options_;
  Optimizer& optimizer_;
};

}  // namespace heed::train
