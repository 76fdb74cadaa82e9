// A classifier trained on arrays in memory, with a training loop of your own.
#include <heed/heed.h>

#include <iostream>

#include "digits.h"

int main() {
  using namespace heed;
  models::TransformerConfig config = models::classifier_config(/*vocabulary=*/10, labels);
  config.model_dim = 32;
  config.encoder_layers = 2;
  models::Classifier model(config, /*seed=*/1);

  train::Optimizer optimizer(nn::named_parameters(model), {.clip = 1});
  constexpr Index num_updates = 150;
  const train::Schedule schedule(
      {.kind = train::ScheduleKind::linear, .peak = 0.003, .warm_up = 15}, num_updates);

  for (Index update = 1; update <= num_updates; ++update) {
    const models::ClassifierBatch batch = make_batch(static_cast<std::uint64_t>(update));
    auto context = nn::ForwardContext::training(/*seed=*/1, static_cast<std::uint64_t>(update));
    const models::Loss loss = model.loss(batch, context);
    backward(loss.loss);
    optimizer.step(schedule.rate(update), 1.0 / static_cast<double>(batch.num_lines()));
    optimizer.clear_gradients();
    if (update % 50 == 0) {
      std::cout << "update " << update << ": loss "
                << loss.negative_log_likelihood / static_cast<double>(batch.num_lines()) << '\n';
    }
  }
  std::cout << "accuracy on unseen sequences: " << accuracy(model, make_batch(1000)) << '\n';
}
