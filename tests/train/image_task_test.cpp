#include "heed/train/image_task.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <tuple>
#include <utility>

#include "heed/base/parallel.h"
#include "heed/io/files.h"
#include "heed/models/model_folder.h"
#include "heed/train/task_types.h"
#include "support/expect_error.h"
#include "train/toy_classes.h"
#include "train/toy_images.h"

namespace heed::train {
namespace {

TEST(ImageTask, LearnsTheClassesAndTellsHowWell) {
  const ToyImages toy;
  Watcher watcher;
  const TrainingResult result = train_model(toy.training("model"), watcher);
  EXPECT_EQ(result.end, RunEnd::finished);
  EXPECT_EQ(watcher.start.data.examples, "images");
  EXPECT_EQ(watcher.start.data.num_examples, 60);
  EXPECT_EQ(watcher.start.data.num_valid_examples, 16);
  ASSERT_FALSE(watcher.validations.empty());
  EXPECT_EQ(watcher.validations.back().score("accuracy"), 1.0);
  const auto model = models::load_model<models::ImageClassifier>(toy.file("model"));
  EXPECT_EQ(model.config().labels, (std::vector<std::string>{"left", "right"}));
  EXPECT_EQ(models::weights_hash(models::parameters(model)), result.weights_hash);
  EXPECT_FALSE(std::filesystem::exists(toy.file("model/tokenizer.model")));
}

TEST(ImageTask, ResumesWithTheSameBits) {
  const ToyImages toy;
  const std::string expected = hash_after(toy.training("whole"));
  for (const Index stop : {1, 5, 11}) {
    const Training stopped = toy.training("stopped-" + std::to_string(stop));
    Watcher watcher;
    watcher.stop_after = stop;
    ASSERT_EQ(train_model(stopped, watcher).end, RunEnd::interrupted);
    EXPECT_EQ(hash_after(stopped), expected) << "stopped after " << stop;
  }
}

TEST(ImageTask, IsTheSameToTheBitForAnyNumberOfThreads) {
  const ToyImages toy;
  const int before = num_threads();
  std::vector<std::string> hashes;
  for (const int threads : {1, 2}) {
    set_num_threads(threads);
    hashes.push_back(hash_after(toy.training("threads-" + std::to_string(threads))));
  }
  set_num_threads(before);
  EXPECT_EQ(hashes[0], hashes[1]);
}

TEST(ImageTask, SeesTheSameFlipsForAnyNumberOfThreadsAndWhenItIsResumed) {
  const ToyImages toy;
  const auto training = [&](const std::string& model) {
    Training flipped = toy.training(model);
    flipped.recipe.training.flip = true;
    return flipped;
  };
  const int before = num_threads();
  set_num_threads(1);
  const std::string expected = hash_after(training("whole"));
  set_num_threads(2);
  Watcher watcher;
  watcher.stop_after = 5;
  ASSERT_EQ(train_model(training("stopped"), watcher).end, RunEnd::interrupted);
  EXPECT_EQ(hash_after(training("stopped")), expected);
  set_num_threads(before);
  EXPECT_NE(hash_after(toy.training("not-flipped")), expected);
}

TEST(ImageTask, DrawsTheAugmentationForEachEpochAndImage) {
  TrainingOptions training;
  training.shift = 4;
  training.flip = true;
  constexpr Index count = 1000;
  Index flips = 0, same_as_next_epoch = 0;
  std::set<std::pair<Index, Index>> shifts;
  for (Index image = 0; image < count; ++image) {
    const data::Augmentation first = augmentation_of(training, 0, image);
    EXPECT_LE(std::max(std::abs(first.down), std::abs(first.right)), 4);
    flips += first.flip;
    same_as_next_epoch += first.flip == augmentation_of(training, 1, image).flip;
    shifts.insert({first.down, first.right});
  }
  EXPECT_NEAR(static_cast<double>(flips), count / 2, 60);
  EXPECT_NEAR(static_cast<double>(same_as_next_epoch), count / 2, 60);
  EXPECT_EQ(shifts.size(), 81u);
}

// What a run drew before there were flips, it draws still.
TEST(ImageTask, DrawsTheSameShiftsWithFlipsAndWithout) {
  TrainingOptions still, shifted, flipped;
  shifted.shift = flipped.shift = 2;
  flipped.flip = true;
  const std::vector<std::pair<Index, Index>> expected{{-2, 0}, {2, -2}, {-1, 0},
                                                      {1, 0},  {2, 1},  {-2, 1}};
  for (Index image = 0; image < std::ssize(expected); ++image) {
    const data::Augmentation one = augmentation_of(shifted, 3, image);
    const data::Augmentation two = augmentation_of(flipped, 3, image);
    EXPECT_EQ(std::pair(one.down, one.right), expected[static_cast<std::size_t>(image)]);
    EXPECT_EQ(std::pair(two.down, two.right), std::pair(one.down, one.right));
    EXPECT_FALSE(one.flip);
    const data::Augmentation none = augmentation_of(still, 3, image);
    EXPECT_EQ(std::tuple(none.flip, none.down, none.right), std::tuple(false, 0, 0));
  }
}

TEST(ImageTask, ReadsTheImagesAgainForARecipeWithAnotherSize) {
  const ToyImages toy;
  Training training = toy.training("model");
  Recipe recipe = training.recipe;
  recipe.model.image_height = recipe.model.image_width = 4;
  ImageTask task(training.files, recipe);
  const DataSize size = task.data_size().value();
  EXPECT_EQ(size.images.count, 60);
  EXPECT_EQ(size.images.height, 8);
  EXPECT_EQ(size.images.width, 8);
  EXPECT_EQ(size.images.channels, 1);
  task.set_recipe(training.recipe);
  EXPECT_EQ(task.data_hash(), ImageTask(training.files, training.recipe).data_hash());
}

TEST(ImageTask, MovesTheImagesIfAsked) {
  const ToyImages toy;
  Training still = toy.training("still");
  still.recipe.training.shift = 0;
  EXPECT_NE(hash_after(still), hash_after(toy.training("moved")));
}

// All of an epoch in one batch: the losses differ only by how the images are moved.
TEST(ImageTask, MovesTheImagesAnewInEveryEpochAndTheSameWayEveryTime) {
  const ToyImages toy;
  Training training = toy.training("model");
  training.recipe.training.batch_tokens = 4 * 60;
  const auto loss_of = [&](Index epoch, Index shift) {
    training.recipe.training.shift = shift;
    ImageTask task(training.files, training.recipe);
    task.prepare("");
    EXPECT_EQ(task.num_batches(epoch), 1);
    auto context = nn::ForwardContext::inference();
    return task.loss(epoch, 0, context).negative_log_likelihood;
  };
  EXPECT_NEAR(loss_of(0, 0), loss_of(1, 0), 1e-6);
  EXPECT_EQ(loss_of(0, 2), loss_of(0, 2));
  EXPECT_GT(std::abs(loss_of(0, 2) - loss_of(1, 2)), 1e-4);
}

TEST(ImageTask, SeesEveryImageOnceInAnEpoch) {
  const ToyImages toy;
  const Training training = toy.training("model");
  ImageTask task(training.files, training.recipe);
  task.prepare("");
  ASSERT_EQ(task.num_batches(3), 4);  // of 16 images each, the last of 12
  Index total = 0;
  for (Index batch = 0; batch < 4; ++batch) {
    auto context = nn::ForwardContext::inference();
    total += task.loss(3, batch, context).num_targets;
  }
  EXPECT_EQ(total, 60);
}

// What a Hugging Face folder says about its pixels is obeyed, and stays with the model.
TEST(ImageTask, FollowsThePreprocessorOfItsBaseModel) {
  const ToyImages toy;
  const std::string json =
      R"({"size": 8, "resample": 3, "image_mean": [0.3], "image_std": [0.25]})";
  const auto hash_with = [&](const std::string& name, const std::string& preprocessor) {
    Training base = toy.training(name);
    train_model(base);
    io::write_file_atomically(base.model_folder + "/preprocessor_config.json", preprocessor);
    Training tuned = toy.training(name + "-tuned");
    tuned.files[base_model_role] = base.model_folder;
    Watcher watcher;
    watcher.stop_after = 3;
    train_model(tuned, watcher);
    std::filesystem::remove_all(base.model_folder);  // the resumed run has all that it needs
    return hash_after(tuned);
  };
  const std::string changed = hash_with("changed", json);
  EXPECT_EQ(io::read_file(toy.file("changed-tuned/preprocessor_config.json")), json);
  EXPECT_NE(changed, hash_with("plain", R"({"size": 8, "do_normalize": false})"));
}

TEST(ImageTask, RefusesOtherImagesWhenTheRunIsResumed) {
  const ToyImages toy;
  const Training training = toy.training("model");
  hash_after(training);
  toy.write("train", 58, 3);
  EXPECT_THROW(hash_after(training), Error);
}

TEST(ImageTask, RefusesWhatDoesNotFitImages) {
  const ToyImages toy;
  const auto expect_refused = [&](const Training& training, const std::string& message) {
    expect_error(ErrorKind::usage, message, [&] { hash_after(training); });
    EXPECT_FALSE(std::filesystem::exists(training.model_folder));
  };
  Training training = toy.training("model");
  training.recipe.model.patch_side = 3;
  expect_refused(training, "model: expected a patch side that divides an image of 8 x 8, found 3");
  training = toy.training("model");
  training.recipe.model.decoder_layers = 1;
  expect_refused(training, "model: expected no decoder layers for heed-image-classifier, found 1");
  training = toy.training("model");
  training.recipe.training.early_stopping = "accuracy";
  training.files.erase("valid-images");
  EXPECT_THROW(hash_after(training), Error);
}

TEST(ImageTask, NamesAFileThatIsNoImage) {
  const ToyImages toy;
  std::ofstream(toy.file("images/train/left/notes.txt")) << "light";
  expect_error(ErrorKind::data,
               toy.file("images/train/left/notes.txt") +
                   ": expected a PNG or JPEG image, found a file that starts with 6c 69 67 68",
               [&] { hash_after(toy.training("model")); });
}

}  // namespace
}  // namespace heed::train
