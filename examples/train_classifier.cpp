// Trains a classifier of lines on batches in memory, with schedule, checkpoints and early stopping:
//   train_classifier TRAIN.tsv VALID.tsv MODEL
// A file has one example a line: label, tab, text. Stopped, the same command resumes the run.
#include <heed/base/error.h>
#include <heed/data/batch_plan.h>
#include <heed/data/labelled_lines.h>
#include <heed/text/encode_lines.h>
#include <heed/train/batch_task.h>
#include <heed/train/training.h>

#include <iostream>

using namespace heed;

std::vector<models::ClassifierBatch> make_batches(const std::vector<data::LabelledLine>& lines,
                                                  const std::vector<std::string>& labels,
                                                  const text::Tokenizer& tokenizer) {
  const auto ids = text::encode_lines(data::texts_of(lines), tokenizer, {.with_end = true});
  const auto classes = data::classes_of(lines, labels, "validation");
  std::vector<data::PairSize> sizes;
  for (const auto& line : ids) sizes.push_back({.source = std::ssize(line), .target = 0});
  const auto plan = data::BatchPlan::shuffled(sizes, /*batch_tokens=*/1024, /*seed=*/1, 0);
  std::vector<models::ClassifierBatch> batches;
  for (Index i = 0; i < plan.size(); ++i) {
    std::vector<std::vector<int>> inputs;
    models::ClassifierBatch batch;
    for (const Index line : plan.batch(i)) {
      inputs.push_back(ids[line]);
      batch.classes.push_back(classes[line]);
    }
    batch.input = models::pack(inputs);
    batches.push_back(batch);
  }
  return batches;
}

int main(int argc, char** argv) try {
  check_as(ErrorKind::usage, argc == 4, "usage: train_classifier TRAIN VALID MODEL");
  const auto lines = data::read_labelled_lines(argv[1]);
  const auto labels = data::distinct_labels(lines);
  const auto tokenizer = text::Tokenizer::train(data::texts_of(lines), {.vocabulary = 4000});

  models::TransformerConfig config = models::transformer_preset("classes");
  config.vocabulary = tokenizer.size();
  config.labels = labels;
  const models::Classifier model(config, /*seed=*/1);

  train::BatchTask task(
      model, make_batches(lines, labels, tokenizer),
      {.validation = make_batches(data::read_labelled_lines(argv[2]), labels, tokenizer),
       .tokenizer = tokenizer,
       .shuffle = true});
  train::TrainingOptions options = train::recipe_preset("classes").training;
  options.after = train::epochs(10);
  options.early_stopping = train::StoppingMetric::loss;
  const train::TrainingResult result = train::train(task, argv[3], options);
  std::cout << result.update << " updates, weights " << result.weights_hash << '\n';
} catch (const Error& error) {
  std::cerr << "train_classifier: " << error.what() << '\n';
  return exit_code(error.kind());
}
