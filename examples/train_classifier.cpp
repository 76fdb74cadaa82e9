// The classifier of training_loop.cpp by the trainer, with schedule, validation, checkpoints and
// resume: train_classifier FOLDER. Interrupt it and start it again: it resumes from its checkpoint
// and ends with the same weights, bit for bit.
#include <heed/heed.h>

#include <iostream>

#include "digits.h"

int main(int argc, char** argv) {
  using namespace heed;
  if (argc != 2) {
    std::cerr << "usage: train_classifier FOLDER\n";
    return 2;
  }
  models::TransformerConfig config = models::classifier_config(/*vocabulary=*/10, labels);
  config.model_dim = 32;
  config.encoder_layers = 2;
  const models::Classifier model(config, /*seed=*/1);

  std::vector<models::ClassifierBatch> batches;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) batches.push_back(make_batch(seed));
  const std::vector<models::ClassifierBatch> held_out{make_batch(1000)};

  try {
    train::BatchTask task(model, batches, {.validation = held_out, .shuffle = true});
    train::TrainingOptions options;
    options.schedule = {.kind = train::ScheduleKind::linear, .peak = 0.003, .warm_up = 15};
    options.after = train::epochs(3);
    options.save_every = train::updates(20);
    const train::TrainingResult result = train::train(task, argv[1], options);

    std::cout << "after update " << result.update << (result.was_finished ? " (was finished)" : "")
              << ": " << result.weights_hash << '\n';
    const auto saved = models::load_model<models::Classifier>(argv[1]);
    std::cout << "accuracy on unseen sequences: " << accuracy(saved, held_out[0]) << '\n';
  } catch (const Error& error) {
    std::cerr << "train_classifier: " << error.what() << '\n';
    return exit_code(error.kind());
  }
}
