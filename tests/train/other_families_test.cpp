// Fine-tuning of models in the layouts of other families, from a folder to a folder.
#include "train/other_families.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "heed/base/error.h"
#include "heed/infer/line_classifier.h"
#include "heed/infer/text_generator.h"
#include "heed/infer/translator.h"
#include "heed/io/safetensors.h"
#include "heed/models/classifier.h"
#include "heed/models/convert_weights.h"
#include "heed/models/peft_adapter.h"
#include "support/same_bits.h"

namespace heed::train {
namespace {

std::string hash_of_run(const Training& training, Index stop_after = -1) {
  Watcher watcher;
  watcher.stop_after = stop_after;
  return train_model(training, watcher).weights_hash;
}

nlohmann::json config_of(const std::string& folder) {
  return nlohmann::json::parse(io::read_file(folder + "/config.json"));
}

// The names and shapes of a folder's tensors.
std::vector<std::pair<std::string, std::vector<std::int64_t>>> layout_of(
    const std::string& folder) {
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> layout;
  const auto file = io::SafetensorsFile::load(folder + "/model.safetensors");
  for (const auto& record : file.tensors()) {
    layout.emplace_back(record.name, record.shape);
  }
  return layout;
}

double mean_of_last(const std::vector<UpdateReport>& updates) {
  double sum = 0;
  for (std::size_t i = updates.size() - 5; i < updates.size(); ++i) sum += updates[i].loss;
  return sum / 5;
}

TEST(OtherFamilies, ATranslatorOfMarianComesBackAsOneAndTranslatesAsItWasTrained) {
  const OtherFamilies families;
  const std::string base = families.marian();
  Training training = families.from(base, families.translation(), "tuned");
  training.recipe.training.after = parse_run_length("300u", "");
  training.recipe.training.validate_every = parse_interval("300u", "");
  Watcher watcher;
  train_model(training, watcher);
  EXPECT_LT(mean_of_last(watcher.updates), 0.7 * watcher.updates.front().loss);

  const std::string tuned = families.file("tuned");
  EXPECT_EQ(config_of(tuned)["model_type"], "marian");
  EXPECT_EQ(config_of(tuned)["vocab_size"], config_of(base)["vocab_size"]);
  EXPECT_EQ(layout_of(tuned), layout_of(base));
  for (const char* file : {"source.spm", "target.spm", "vocab.json", "generation_config.json"}) {
    EXPECT_EQ(io::read_file(tuned + '/' + file), io::read_file(base + '/' + file)) << file;
  }
  const auto translator = infer::Translator::load(tuned);
  const ValidationReport& last = watcher.validations.back();
  ASSERT_FALSE(last.samples.empty());
  for (const Sample& sample : last.samples) {
    infer::TranslationOptions options;
    options.search.beam_size = 1;
    const auto translations = translator.translate(std::span(&sample.source, 1), options);
    EXPECT_EQ(translations[0].text(), sample.output) << sample.source;
  }
}

TEST(OtherFamilies, EveryKindResumesWithTheSameBits) {
  const OtherFamilies families;
  const std::string bert = families.bert();
  const std::vector<std::pair<std::string, FilePaths>> cases{
      {families.marian(), families.translation()},
      {families.gpt2(), families.language()},
      {families.llama(), families.language()},
      {bert, families.masked()},
      {bert, families.labelled()}};
  int number = 0;
  for (const auto& one : cases) {
    const auto& base = one.first;
    const auto& files = one.second;
    for (const Index lora : {Index{0}, Index{2}}) {
      SCOPED_TRACE(base + (lora > 0 ? " with LoRA" : ""));
      const std::string name = "run" + std::to_string(number++);
      const auto run = [&](const std::string& end) {
        Training training = families.from(base, files, name + end);
        training.recipe.training.lora = lora;
        return training;
      };
      const std::string whole = hash_of_run(run("-whole"));
      EXPECT_EQ(hash_of_run(run("-stopped"), 7), "");
      EXPECT_EQ(hash_of_run(run("-stopped")), whole);
      // What comes from the folder alone is the same.
      EXPECT_EQ(models::weights_hash(models::load_parameters(families.file(name + "-whole"))),
                whole);
      Training twice = run("-twice");
      twice.files[base_model_role] = families.file(name + "-whole");
      EXPECT_NE(hash_of_run(twice), "") << "the result can be trained further";
    }
  }
}

TEST(OtherFamilies, AResumedRunNeedsNoBaseModelUnlessItsWeightsAreFrozen) {
  const OtherFamilies families;
  const std::string whole = hash_of_run(families.from(families.gpt2(), families.language(), "a"));
  Training stopped = families.from(families.file("gpt2"), families.language(), "b");
  hash_of_run(stopped, 7);
  std::filesystem::remove_all(families.file("gpt2"));
  EXPECT_EQ(hash_of_run(stopped), whole);
}

TEST(OtherFamilies, ALanguageModelLearnsWithAllOfItsWeightsAndWithAnAdapter) {
  const OtherFamilies families;
  for (const std::string& base : {families.gpt2(), families.llama()}) {
    for (const Index lora : {Index{0}, Index{4}}) {
      SCOPED_TRACE(base + (lora > 0 ? " with LoRA" : ""));
      const std::string name = "tuned" + std::to_string(lora) + base.substr(base.rfind('/') + 1);
      Training training = families.from(base, families.language(), name);
      training.recipe.training.lora = lora;
      training.recipe.training.schedule.peak = lora > 0 ? 0.05 : 0.02;
      training.recipe.training.after = parse_run_length("80u", "");
      Watcher watcher;
      train_model(training, watcher);
      EXPECT_LT(mean_of_last(watcher.updates),
                (lora > 0 ? 0.9 : 0.8) * watcher.updates.front().loss);
      EXPECT_EQ(layout_of(families.file(name)), layout_of(base));
      EXPECT_EQ(io::is_folder(models::peft_folder(families.file(name))), lora > 0);
      const auto generator = infer::TextGenerator::load(families.file(name));
      const std::string prompt = "red";
      EXPECT_EQ(generator.generate(std::span(&prompt, 1), {.max_tokens = 4}).size(), 1u);
    }
  }
}

TEST(OtherFamilies, AnAdapterMergedIntoItsBaseIsTheTunedModel) {
  const OtherFamilies families;
  for (const std::string& base : {families.gpt2(), families.llama()}) {
    SCOPED_TRACE(base);
    Training training =
        families.from(base, families.language(), "lora" + base.substr(base.size() - 4));
    training.recipe.training.lora = 3;
    const std::string tuned = training.model_folder, merged = tuned + "-merged";
    const std::string hash = hash_of_run(training);
    models::convert_weights(base, merged, models::WeightFormat::f32, models::peft_folder(tuned));
    EXPECT_EQ(models::weights_hash(models::load_parameters(merged)), hash);
    EXPECT_THROW(models::convert_weights(tuned, tuned + "-twice", models::WeightFormat::f32,
                                         models::peft_folder(tuned)),
                 Error)
        << "these are other weights by now";
  }
}

TEST(OtherFamilies, AClassifierIsInitialisedFromAMaskedModel) {
  const OtherFamilies families;
  const std::string base = families.bert(), tuned = families.file("classes");
  Training training = families.from(base, families.labelled(), "classes");
  training.recipe.training.after = parse_run_length("120u", "");
  hash_of_run(training);

  const nlohmann::json config = config_of(tuned);
  EXPECT_EQ(config["architectures"][0], "BertForSequenceClassification");
  EXPECT_EQ(config["id2label"].size(), 3u);
  EXPECT_EQ(config["label2id"].size(), 3u);
  bool has_pooler = false;
  for (const auto& [name, shape] : layout_of(tuned))
    has_pooler |= name == "bert.pooler.dense.weight";
  EXPECT_TRUE(has_pooler);
  const auto classifier = infer::LineClassifier::load(tuned);
  const std::vector<std::string> lines{"the red", "a blue in"};
  EXPECT_EQ(classifier.classify(std::span<const std::string>(lines)).size(), 2u);

  // For other labels the head is new, and the layer before it is not.
  std::ofstream other(families.file("other.tsv"));
  for (int i = 0; i < 12; ++i) other << (i % 2 ? "yes\tthe red\n" : "no\ta blue\n");
  other.close();
  Training again = families.from(tuned, {{"labelled", families.file("other.tsv")}}, "again");
  again.recipe.training.schedule.peak = 0;
  again.recipe.training.after = parse_run_length("1u", "");
  hash_of_run(again);
  const auto before = models::load_parameters(tuned);
  for (const nn::NamedTensor& after : models::load_parameters(families.file("again"))) {
    const auto same = std::ranges::find(before, after.name, &nn::NamedTensor::name);
    ASSERT_NE(same, before.end()) << after.name;
    const bool is_head = after.name.starts_with("head.");
    EXPECT_EQ(same_bits(same->value, after.value), !is_head) << after.name;
  }
}

TEST(OtherFamilies, AClassifierOfPairsStaysOneInItsFolder) {
  const OtherFamilies families;
  std::ofstream lines(families.file("pairs.tsv"));
  lines << "label\ttext\ttext_pair\n";
  for (int i = 0; i < 12; ++i) lines << (i % 2 ? "yes\tred\tthe red\n" : "no\tred\ta blue\n");
  lines.close();
  hash_of_run(families.from(families.bert(), {{"labelled", families.file("pairs.tsv")}}, "pairs"));
  EXPECT_TRUE(models::load_config(families.file("pairs")).text_pairs);
  EXPECT_TRUE(infer::LineClassifier::load(families.file("pairs")).reads_pairs());
}

// config.json of Hugging Face has no place for their mean and scale.
TEST(OtherFamilies, ARegressionPredictsTheNumbersThemselves) {
  const OtherFamilies families;
  std::ofstream lines(families.file("numbers.tsv"));
  for (int i = 0; i < 24; ++i) lines << (i % 2 ? "3\tthe red\n" : "1\ta blue\n");
  lines.close();
  Training training =
      families.from(families.bert(), {{"labelled", families.file("numbers.tsv")}}, "numbers");
  training.recipe.model.problem_type = ProblemType::regression;
  training.recipe.model.label_smoothing = 0;
  training.recipe.training.after = parse_run_length("80u", "");
  hash_of_run(training);
  const std::vector<std::string> texts{"the red", "a blue"};
  const auto scores = infer::LineClassifier::load(families.file("numbers")).scores({texts});
  EXPECT_NEAR(scores[0], 3, 0.5);
  EXPECT_NEAR(scores[1], 1, 0.5);
}

// A folder that genuine packages have written, with its own tokenizer.
TEST(OtherFamilies, AClassifierIsInitialisedFromAFolderOfSentenceTransformers) {
  const char* data = std::getenv("HEED_DATA");
  const std::string base = std::string(data != nullptr ? data : "") + "/hf/models/minilm_sentence";
  if (data == nullptr || !io::is_folder(base)) GTEST_SKIP() << "HEED_DATA names no folder with it";
  const OtherFamilies families;
  Training training = families.from(base, families.labelled(), "classes");
  training.recipe.training.max_length = 16;
  training.recipe.training.lora = 2;
  const std::string hash = hash_of_run(training);
  EXPECT_EQ(models::weights_hash(models::load_parameters(training.model_folder)), hash);
  EXPECT_EQ(config_of(training.model_folder)["architectures"][0], "BertForSequenceClassification");
  EXPECT_EQ(io::read_file(training.model_folder + "/tokenizer.json"),
            io::read_file(base + "/tokenizer.json"));
  EXPECT_TRUE(io::is_file(models::peft_folder(training.model_folder) + "/adapter_config.json"));
}

TEST(OtherFamilies, TheNetworkOfTheBaseModelStays) {
  const OtherFamilies families;
  const std::string base = families.llama();
  Training training = families.from(base, families.language(), "tuned");
  training.recipe.model.rotary.base = 5000;
  try {
    hash_of_run(training);
    ADD_FAILURE() << "expected an error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("`rotary_base`: expected 10000.0 as in `from`"),
              std::string::npos)
        << error.what();
  }
  // Learned positions bound the length of examples.
  Recipe recipe = families.from(families.gpt2(), families.language(), "other").recipe;
  recipe.training.max_length = 256;
  fit_max_length(recipe);
  EXPECT_EQ(recipe.training.max_length, 48);
}

TEST(OtherFamilies, ARunThatIsStartedOverLeavesNothingOfTheOtherFamily) {
  const OtherFamilies families;
  hash_of_run(families.from(families.marian(), families.translation(), "model"));
  Training own = families.pairs.training("model");
  own.mode = RunMode::overwrite;
  hash_of_run(own);
  for (const char* file : {"source.spm", "target.spm", "vocab.json"}) {
    EXPECT_FALSE(std::filesystem::exists(families.file("model/") + file)) << file;
  }
  EXPECT_NO_THROW(infer::Translator::load(families.file("model")));
}

}  // namespace
}  // namespace heed::train
