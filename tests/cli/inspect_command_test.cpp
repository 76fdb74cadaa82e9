#include "heed/cli/inspect_command.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "heed/io/files.h"
#include "heed/io/safetensors.h"
#include "heed/models/model_folder.h"
#include "heed/models/translation_model.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"
#include "train/other_families.h"

namespace heed::cli {
namespace {

struct SavedModel {
  TemporaryFolder folder;
  models::TranslationModel model = make();
  SavedModel() {
    const std::vector<std::string> lines{"a bat lives in the cave"};
    const auto tokenizer =
        text::Tokenizer::train(lines, {.vocabulary = 40, .subwords = text::Subwords::character});
    models::save_model_folder(folder.path(), model, tokenizer);
  }
  static models::TranslationModel make() {
    models::TransformerConfig config;
    config.vocabulary = 30;
    config.encoder_layers = config.decoder_layers = 1;
    config.model_dim = 16;
    config.feed_forward_dim = 24;
    config.num_heads = 2;
    return models::TranslationModel(config, 1);
  }
  std::string run(bool json) const {
    std::ostringstream out;
    EXPECT_EQ(inspect({.model = folder.path(), .json = json}, out), 0);
    return out.str();
  }
};

TEST(InspectCommand, JsonTellsArchitecturePartsTokenizerAndHash) {
  const SavedModel saved;
  const std::string text = saved.run(/*json=*/true);
  EXPECT_EQ(std::ranges::count(text, '\n'), 1) << text;
  const auto report = nlohmann::json::parse(text);
  EXPECT_EQ(report["architecture"]["d_model"], 16);
  EXPECT_EQ(report["architecture"]["positions"], "sinusoidal");
  EXPECT_EQ(report["parameters"]["embedding"], 30 * 16);
  EXPECT_EQ(report["parameters"]["total"], models::num_parameters(saved.model.config()));
  EXPECT_EQ(report["parameters"]["encoder"].get<int>() + report["parameters"]["decoder"].get<int>(),
            report["parameters"]["total"].get<int>() - 30 * 16);
  EXPECT_EQ(report["tokenizer"]["subwords"], "char");
  EXPECT_TRUE(report["training"].is_null());
  EXPECT_EQ(report["weights"], models::weights_hash(models::parameters(saved.model)));
  EXPECT_EQ(report["checksum"], "ok");
}

TEST(InspectCommand, TellsAModelWithoutAChecksumAndRefusesADamagedOne) {
  const SavedModel saved;
  EXPECT_NE(saved.run(/*json=*/false).find("\nchecksum ok\n"), std::string::npos);
  const std::string path = models::weights_path(saved.folder.path());
  const std::string bytes = io::read_file(path);
  std::string other = bytes;
  other.replace(other.find("heed.xxh3"), 9, "somebodys");
  io::write_file_atomically(path, other);
  EXPECT_NE(saved.run(/*json=*/false).find("\nchecksum none\n"), std::string::npos);
  std::string damaged = bytes;
  damaged.back() ^= 1;
  io::write_file_atomically(path, damaged);
  EXPECT_THROW(saved.run(/*json=*/false), Error);
}

TEST(InspectCommand, ReadsWeightsInSeveralFiles) {
  const train::OtherFamilies families;
  const std::string folder = families.gpt2();
  const std::string whole = models::weights_path(folder), part = "model-00001-of-00001.safetensors";
  nlohmann::json map = nlohmann::json::object();
  const auto file = io::SafetensorsFile::load(whole);
  for (const io::TensorRecord& record : file.tensors()) {
    map[record.name] = part;
  }
  const auto inspected = [&] {
    std::ostringstream out;
    EXPECT_EQ(inspect({.model = folder, .json = true}, out), 0);
    return nlohmann::json::parse(out.str());
  };
  const auto before = inspected();
  std::filesystem::rename(whole, folder + '/' + part);
  io::write_file_atomically(whole + ".index.json", nlohmann::json{{"weight_map", map}}.dump());
  EXPECT_EQ(inspected(), before);
}

TEST(InspectCommand, TableEndsWithTheHashOnALineOfItsOwn) {
  const SavedModel saved;
  const std::string table = saved.run(/*json=*/false);
  EXPECT_TRUE(
      table.ends_with("\nweights " + models::weights_hash(models::parameters(saved.model)) + "\n"))
      << table;
  for (const char* word : {"architecture", "d_model", "parameters", "encoder", "tokenizer"}) {
    EXPECT_NE(table.find(word), std::string::npos) << word;
  }
}

TEST(InspectCommand, ADamagedCheckpointAndAMissingTokenizerAreSaid) {
  const SavedModel saved;
  std::filesystem::remove(saved.folder.file("tokenizer.model"));
  io::create_folder(saved.folder.file("training"));
  io::write_file_atomically(saved.folder.file("training/checkpoint.safetensors"), "damaged");
  const auto report = nlohmann::json::parse(saved.run(/*json=*/true));
  EXPECT_TRUE(report["tokenizer"].is_null());
  EXPECT_TRUE(report["training"].contains("unreadable")) << report["training"];
  EXPECT_NE(saved.run(/*json=*/false).find("tokenizer\n  none\n"), std::string::npos);
}

TEST(InspectCommand, RefusesAFolderThatIsNoModel) {
  const TemporaryFolder folder;
  std::ostringstream out;
  expect_error(ErrorKind::model,
               folder.path() + ": expected a model folder with config.json, found none",
               [&] { inspect({.model = folder.path()}, out); });
  EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace heed::cli
