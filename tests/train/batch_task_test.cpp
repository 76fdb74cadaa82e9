#include "heed/train/batch_task.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "heed/base/error.h"
#include "heed/models/classifier.h"
#include "heed/ops/elementwise.h"
#include "heed/train/schedule.h"
#include "heed/train/training.h"
#include "support/expect_error.h"
#include "support/same_bits.h"
#include "support/temporary_folder.h"
#include "train/toy_classes.h"

namespace heed::train {
namespace {

models::TransformerConfig small_config() {
  models::TransformerConfig config;
  config.kind = models::ModelKind::classifier;
  config.vocabulary = 12;
  config.labels = {"without", "with"};
  config.encoder_layers = 1;
  config.decoder_layers = 0;
  config.model_dim = 16;
  config.feed_forward_dim = 24;
  config.num_heads = 2;
  config.dropout = 0.1f;
  config.label_smoothing = 0;
  return config;
}

// Lines of a few tokens; those of class 1 have the token 11.
std::vector<models::ClassifierBatch> make_batches(int count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<models::ClassifierBatch> batches;
  for (int i = 0; i < count; ++i) {
    models::ClassifierBatch batch;
    std::vector<std::vector<int>> lines;
    for (int j = 0; j < 8; ++j) {
      std::vector<int> ids;
      for (std::uint64_t k = 2 + rng.below(4); k > 0; --k) {
        ids.push_back(4 + static_cast<int>(rng.below(7)));
      }
      batch.classes.push_back(static_cast<int>(rng.below(2)));
      if (batch.classes.back() == 1) ids[rng.below(ids.size())] = 11;
      ids.push_back(text::own_tokens::end);
      lines.push_back(std::move(ids));
    }
    batch.input = models::pack(lines);
    batches.push_back(std::move(batch));
  }
  return batches;
}

TrainingOptions small_training() {
  TrainingOptions options;
  options.schedule = {.kind = ScheduleKind::linear, .peak = 0.01, .warm_up = 3};
  options.optimizer.clip = 1;
  options.after = epochs(5);
  return options;
}

class BatchTaskTest : public testing::Test {
 protected:
  // A run with a new model and the same batches every time.
  TrainingResult run(const std::string& name, const TrainingOptions& options,
                     Index stop_after = -1) {
    BatchTask task(models::Classifier(small_config(), 1), batches,
                   {.validation = make_batches(2, 7)});
    watcher = {};
    watcher.stop_after = stop_after;
    return train(task, folder.file(name), options, watcher);
  }

  TemporaryFolder folder;
  std::vector<models::ClassifierBatch> batches = make_batches(6, 1);
  Watcher watcher;
};

TEST_F(BatchTaskTest, Learns) {
  TrainingOptions options = small_training();
  options.after = epochs(25);
  EXPECT_EQ(run("model", options).end, RunEnd::finished);
  EXPECT_EQ(watcher.start.data.examples, "batches");
  EXPECT_EQ(watcher.start.data.num_examples, 6);
  EXPECT_LT(watcher.updates.back().loss, 0.3 * watcher.updates.front().loss);
  EXPECT_LT(watcher.validations.back().loss, watcher.validations.front().loss);
}

TEST_F(BatchTaskTest, EqualsTheLoopWrittenByHand) {
  const TrainingOptions options = small_training();
  const models::Classifier trained(small_config(), 1);
  BatchTask task(trained, batches);
  const TrainingResult result = train(task, folder.file("model"), options);

  models::Classifier model(small_config(), 1);
  Optimizer optimizer(nn::named_parameters(model), options.optimizer);
  const Schedule schedule(options.schedule, 5 * std::ssize(batches));
  Index update = 0;
  for (Index epoch = 0; epoch < 5; ++epoch) {
    for (const models::ClassifierBatch& batch : batches) {
      auto context = nn::ForwardContext::training(options.seed, update++);
      backward(model.loss(batch, context).loss);
      optimizer.step(schedule.rate(update), 1.0 / static_cast<double>(batch.num_lines()));
      optimizer.clear_gradients();
    }
  }
  EXPECT_EQ(result.update, update);
  EXPECT_EQ(result.weights_hash, models::weights_hash(models::parameters(model)));
  EXPECT_EQ(result.weights_hash, models::weights_hash(models::parameters(trained)))
      << "the task shares its parameters with the model";
}

TEST_F(BatchTaskTest, ResumesWithTheSameBits) {
  TrainingOptions options = small_training();
  options.average = 3;
  options.save_every = updates(4);
  const std::string expected = run("whole", options).weights_hash;
  for (const Index stop : {1, 6, 13}) {
    const std::string name = "stopped-" + std::to_string(stop);
    EXPECT_EQ(run(name, options, stop).end, RunEnd::interrupted);
    EXPECT_EQ(run(name, options).weights_hash, expected) << stop;
  }
  const TrainingResult again = run("whole", options);
  EXPECT_TRUE(again.was_finished);
  EXPECT_EQ(again.weights_hash, expected);
}

TEST_F(BatchTaskTest, ResumesWithTheSameOptionsAndBatchesOnly) {
  TrainingOptions options = small_training();
  run("model", options, 4);
  options.accumulate = 2;
  expect_error(ErrorKind::usage,
               "`accumulate`: expected 1, with which this run was started, found 2",
               [&] { run("model", options); });
  batches.pop_back();
  expect_error(ErrorKind::usage,
               "training: expected the data with which this run was started, found other data",
               [&] { run("model", small_training()); });
}

TEST_F(BatchTaskTest, ResumesWithTheSameContentsOnly) {
  run("model", small_training(), 4);
  const std::vector<models::ClassifierBatch> same = batches;
  batches[3].input.ids[1] = 10;
  ASSERT_NE(batches[3].input.ids, same[3].input.ids);
  const auto resume = [&] { run("model", small_training()); };
  expect_error(ErrorKind::usage,
               "training: expected the data with which this run was started, found other data",
               resume);
  batches = same;
  std::swap(batches[0], batches[1]);
  expect_error(ErrorKind::usage,
               "training: expected the data with which this run was started, found other data",
               resume);
  batches = same;
  EXPECT_NO_THROW(resume());
}

TEST_F(BatchTaskTest, HashesTheOrderOfTheBatches) {
  const auto hash_of = [&](const BatchTaskOptions<models::ClassifierBatch>& options) {
    return BatchTask(models::Classifier(small_config(), 1), batches, options).data_hash();
  };
  const std::string shuffled = hash_of({.shuffle = true, .shuffle_seed = 1});
  EXPECT_EQ(hash_of({.shuffle = true, .shuffle_seed = 1}), shuffled);
  EXPECT_NE(hash_of({.shuffle = true, .shuffle_seed = 2}), shuffled);
  EXPECT_NE(hash_of({}), shuffled);
}

TEST_F(BatchTaskTest, StopsEarly) {
  TrainingOptions options = small_training();
  options.schedule = {.kind = ScheduleKind::constant, .peak = 0.02, .warm_up = 0};
  options.early_stopping = "loss";
  options.patience = 2;
  options.validate_every = updates(3);
  options.after = epochs(500);
  EXPECT_EQ(run("model", options).end, RunEnd::stopped_early);
}

TEST_F(BatchTaskTest, ShufflesTheBatchesOfEveryEpochIfAsked) {
  const auto hash_with = [&](const std::string& name, std::uint64_t seed) {
    BatchTask task(models::Classifier(small_config(), 1), batches,
                   {.shuffle = true, .shuffle_seed = seed});
    return train(task, folder.file(name), small_training()).weights_hash;
  };
  const std::string first = hash_with("first", 1);
  EXPECT_EQ(hash_with("same", 1), first);
  EXPECT_NE(hash_with("other", 2), first);
}

TEST_F(BatchTaskTest, SavesAModelFolderWithItsTokenizer) {
  const std::vector<std::string> lines{"a b c d e f g h"};
  const auto tokenizer =
      text::Tokenizer::train(lines, {.vocabulary = 12, .subwords = text::Subwords::word});
  models::TransformerConfig config = small_config();
  config.vocabulary = tokenizer.size();
  BatchTask task(models::Classifier(config, 1), batches, {.tokenizer = tokenizer});
  const TrainingResult result = train(task, folder.file("model"), small_training());
  const auto loaded = models::load_model_folder<models::Classifier>(folder.file("model"));
  EXPECT_EQ(models::weights_hash(models::parameters(loaded.model)), result.weights_hash);
}

TEST_F(BatchTaskTest, RefusesOptionsOutOfRangeAndMakesNoFolder) {
  TrainingOptions options = small_training();
  options.accumulate = 0;
  expect_error(ErrorKind::usage, "`accumulate`: expected a whole number from 1 to 1000000, found 0",
               [&] { run("model", options); });
  EXPECT_FALSE(std::filesystem::exists(folder.file("model")));
}

TEST_F(BatchTaskTest, FreezesParametersOfTheModelAsItWasGiven) {
  TrainingOptions options = small_training();
  options.freeze = "encoder";
  const models::Classifier before(small_config(), 1);
  run("model", options);
  const auto initial = models::parameters(before);
  const auto trained = models::load_parameters(folder.file("model"));
  for (std::size_t i = 0; i < initial.size(); ++i) {
    if (!initial[i].name.starts_with("encoder.")) continue;
    EXPECT_TRUE(same_bits(initial[i].value, trained[i].value)) << initial[i].name;
  }
}

// A model and a batch that are none of Heed's: the point that is nearest to all others.
struct Points {
  std::vector<Tensor> values;  // [2] each
};
BatchSize batch_size(const Points& points) { return {std::ssize(points.values), 0}; }

struct NearestPoint {
  Tensor point = Tensor::zeros({2});

  NearestPoint() { point.require_gradient(); }
  void visit_parameters(nn::ParameterVisitor& visitor) { visitor.parameter("point", point); }
  Tensor loss(const Points& points, nn::ForwardContext&) const {
    Tensor total = Tensor::zeros({});
    for (const Tensor& value : points.values) {
      const Tensor difference = ops::add(point, ops::scale(value, -1));
      total = ops::add(total, ops::sum(ops::multiply(difference, difference)));
    }
    return total;
  }
};

// The same with a hash of its contents.
struct HashedPoints : Points {};
void hash_batch(BatchHash& hash, const HashedPoints& points) {
  for (const Tensor& value : points.values) hash.add(value);
}

TEST_F(BatchTaskTest, HashesTheContentsOfOtherBatchesIfTheyHaveAHash) {
  const auto hash_of = [](auto points, float y) {
    points.values = {Tensor::from({1, y}, {2})};
    return BatchTask(NearestPoint(), std::vector{points}).data_hash();
  };
  EXPECT_EQ(hash_of(Points(), 2), hash_of(Points(), 3)) << "sizes alone";
  EXPECT_EQ(hash_of(HashedPoints(), 2), hash_of(HashedPoints(), 2));
  EXPECT_NE(hash_of(HashedPoints(), 2), hash_of(HashedPoints(), 3));
}

TEST_F(BatchTaskTest, TrainsModelsOfTheUser) {
  const Points points{{Tensor::from({1, 2}, {2}), Tensor::from({3, 4}, {2})}};
  const NearestPoint model;
  BatchTask task(model, std::vector{points}, {.validation = {points}});
  TrainingOptions options;
  options.schedule = {.kind = ScheduleKind::cosine, .peak = 0.1, .warm_up = 0};
  options.after = updates(300);
  EXPECT_EQ(train(task, folder.file("model"), options).end, RunEnd::finished);
  EXPECT_NEAR(model.point.values()[0], 2, 0.01);
  EXPECT_NEAR(model.point.values()[1], 3, 0.01);
}

}  // namespace
}  // namespace heed::train
