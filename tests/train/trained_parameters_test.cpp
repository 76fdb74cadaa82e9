#include "heed/train/trained_parameters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/models/convert_weights.h"
#include "heed/models/lora_adapter.h"
#include "heed/models/model_folder.h"
#include "heed/train/training_folder.h"
#include "heed/train/weights.h"
#include "support/same_bits.h"
#include "train/toy_training.h"

namespace heed::train {
namespace {

struct StopAfter : TrainingObserver {
  explicit StopAfter(Index updates) : stop_after(updates) {}
  Index stop_after, update = 0;
  bool should_stop() override { return stop_after >= 0 && update >= stop_after; }
  void on_start(const RunStart& start) override { update = start.update; }
  void on_update(const UpdateReport& report) override { update = report.update; }
};

std::string hash_after(const Training& training, Index stop_after = -1) {
  StopAfter observer(stop_after);
  return train_model(training, observer).weights_hash;
}

// A base model on the toy task, and runs on other sentences that are initialised from it.
class FineTuning : public testing::Test {
 protected:
  FineTuning() {
    toy.write_pairs("more", 40, 7);
    hash_after(toy.training("base"));
  }
  Training from_base(const std::string& model) const {
    Training training = toy.training(model);
    training.files["source"] = toy.file("more.en");
    training.files["target"] = toy.file("more.de");
    training.files["from"] = toy.file("base");
    return training;
  }
  std::vector<nn::NamedTensor> weights(const std::string& model) const {
    return models::load_parameters(toy.file(model));
  }
  std::string refusal(const Training& training) const {
    try {
      hash_after(training);
    } catch (const Error& error) {
      return error.what();
    }
    ADD_FAILURE() << "no error";
    return "";
  }

  ToyTraining toy;
};

TEST_F(FineTuning, StartsWithTheWeightsAndTheTokenizerOfTheBaseModel) {
  Training training = from_base("tuned");
  training.recipe.training.schedule.peak = 0;  // so that nothing changes
  hash_after(training);
  const auto before = weights("base"), after = weights("tuned");
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_TRUE(same_bits(before[i].value, after[i].value)) << before[i].name;
  }
  EXPECT_EQ(models::load_tokenizer(toy.file("base")).bytes(),
            models::load_tokenizer(toy.file("tuned")).bytes());
}

TEST_F(FineTuning, LeavesFrozenParametersAsTheyAre) {
  Training training = from_base("tuned");
  training.recipe.training.freeze = "encoder,embedding";
  hash_after(training);
  const auto before = weights("base"), after = weights("tuned");
  for (std::size_t i = 0; i < before.size(); ++i) {
    const bool is_frozen =
        before[i].name.starts_with("encoder.") || before[i].name.starts_with("embedding.");
    // A bias of keys moves no score: it may or may not change.
    if (before[i].name.ends_with("key.bias")) continue;
    EXPECT_EQ(same_bits(before[i].value, after[i].value), is_frozen) << before[i].name;
  }
}

TEST_F(FineTuning, WithLoraChangesMatricesOnly) {
  Training training = from_base("tuned");
  training.recipe.training.lora = 2;
  hash_after(training);
  const auto before = weights("base"), after = weights("tuned");
  Index num_changed = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const bool is_matrix = before[i].name.ends_with(".weight") &&
                           before[i].name.find("embedding") == std::string::npos;
    if (!is_matrix) {
      EXPECT_TRUE(same_bits(before[i].value, after[i].value)) << before[i].name;
    }
    num_changed += !same_bits(before[i].value, after[i].value);
  }
  EXPECT_GT(num_changed, 10);
}

TEST_F(FineTuning, AnAdapterMergedIntoItsBaseIsTheTunedModel) {
  Training training = from_base("tuned");
  training.recipe.training.lora = 2;
  hash_after(training);
  const auto adapter = models::load_adapter(models::adapter_path(toy.file("tuned")));
  EXPECT_LT(std::filesystem::file_size(models::adapter_path(toy.file("tuned"))),
            std::filesystem::file_size(toy.file("tuned") + "/model.safetensors"));
  auto merged = weights("base");
  models::merge(adapter, merged);
  const auto tuned = weights("tuned");
  for (std::size_t i = 0; i < tuned.size(); ++i) {
    EXPECT_TRUE(same_bits(merged[i].value, tuned[i].value)) << tuned[i].name;
  }
  EXPECT_THROW(models::merge(adapter, merged), Error) << "these are other weights by now";
  const std::string path = models::adapter_path(toy.file("tuned"));
  models::convert_weights(toy.file("base"), toy.file("merged"), models::WeightFormat::f32, path);
  EXPECT_EQ(models::weights_hash(weights("merged")), models::weights_hash(tuned));
  EXPECT_THROW(models::convert_weights(toy.file("tuned"), toy.file("twice"),
                                       models::WeightFormat::f32, path),
               Error);
}

TEST_F(FineTuning, ResumesWithTheSameBits) {
  for (const bool is_lora : {false, true}) {
    const std::string name = is_lora ? "lora" : "frozen";
    const auto change = [&](Training training) {
      training.recipe.training.lora = is_lora ? 2 : 0;
      training.recipe.training.freeze = is_lora ? "" : "decoder";
      return training;
    };
    const std::string expected = hash_after(change(from_base(name + "-whole")));
    const Training stopped = change(from_base(name + "-stopped"));
    EXPECT_EQ(hash_after(stopped, 5), "");
    EXPECT_EQ(hash_after(stopped), expected) << name;
  }
}

TEST_F(FineTuning, LearnsTheOtherSentences) {
  for (const Index lora : {Index{0}, Index{4}}) {
    Training training = from_base("tuned-" + std::to_string(lora));
    training.recipe.training.lora = lora;
    training.recipe.training.after = parse_run_length("120u", "");
    training.recipe.training.schedule.peak = 0.02;
    struct Losses : TrainingObserver {
      std::vector<double> found;
      void on_update(const UpdateReport& report) override { found.push_back(report.loss); }
    } losses;
    train_model(training, losses);
    EXPECT_LT(losses.found.back(), 0.8 * losses.found.front()) << lora;
  }
}

TEST_F(FineTuning, RefusesWhatDoesNotFit) {
  Training training = from_base("tuned");
  training.recipe.training.freeze = "encodre";
  EXPECT_NE(refusal(training).find("`freeze`: expected a prefix of a parameter's name"),
            std::string::npos);
  training.recipe.training.freeze = "encoder";
  training.recipe.training.lora = 2;
  EXPECT_EQ(refusal(training), "`lora` and `freeze`: expected one of them, found both");
  training = from_base("tuned");
  training.files.erase("from");
  training.recipe.training.lora = 2;
  EXPECT_EQ(refusal(training), "`lora`: expected `from`, a pretrained model, found none");
  training = from_base("tuned");
  training.recipe.model.model_dim = 32;
  EXPECT_EQ(refusal(training).rfind("`width`: expected 16 as in `from`", 0), 0u)
      << refusal(training);
  EXPECT_FALSE(std::filesystem::exists(toy.file("tuned")));
}

TEST_F(FineTuning, ResumesWithoutTheBaseModelUnlessPartsOfItAreFrozen) {
  const std::string whole = hash_after(from_base("whole"));
  const Training stopped = from_base("stopped");
  Training frozen = from_base("frozen");
  frozen.recipe.training.freeze = "encoder";
  hash_after(stopped, 3);
  hash_after(frozen, 3);

  std::filesystem::rename(toy.file("base"), toy.file("moved"));
  EXPECT_NE(refusal(frozen).find("base"), std::string::npos);
  Training moved = stopped;
  moved.files["from"] = toy.file("moved");
  hash_after(moved, 6);
  std::filesystem::remove_all(toy.file("moved"));
  EXPECT_EQ(hash_after(stopped), whole);
}

// The first version had the path of the base model in the hash of the data.
TEST_F(FineTuning, ResumesARunWhoseHashHoldsThePathOfItsBaseModel) {
  const std::string whole = hash_after(from_base("whole"));
  const Training stopped = from_base("stopped");
  hash_after(stopped, 3);
  const std::string path = TrainingFolder(stopped.model_folder).checkpoint();
  const io::SafetensorsFile file = load_checked(path);
  io::Metadata metadata = file.metadata();
  auto texts = nlohmann::json::parse(metadata["texts"]);
  texts["sha256"] = texts["sha256"].get<std::string>() + ' ' + toy.file("base");
  metadata["texts"] = texts.dump();
  metadata.erase("sha256");
  Weights weights;
  for (const io::TensorRecord& record : file.tensors()) {
    weights.push_back({record.name, Tensor::empty(Shape(record.shape))});
  }
  read_weights(file, "", weights);
  WeightsWriter writer;
  writer.add("", weights);
  writer.write(path, metadata);

  Training other = stopped;
  other.files["source"] = toy.file("train.en");
  other.files["target"] = toy.file("train.de");
  EXPECT_EQ(refusal(other),
            "`source`, `target`, `valid_source`, `valid_target`: expected the data with which this "
            "run was started, found other data");
  EXPECT_EQ(hash_after(stopped), whole);
}

}  // namespace
}  // namespace heed::train
