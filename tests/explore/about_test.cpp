#include "heed/explore/about.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "explore/small_folders.h"
#include "heed/io/files.h"
#include "heed/train/training_folder.h"

namespace heed::explore {
namespace {

using nlohmann::ordered_json;

void write_validation(const std::string& folder, const std::string& samples) {
  const train::TrainingFolder training(folder);
  io::create_folder(training.snapshots());
  io::write_file_atomically(training.metrics(), R"({"kind":"update","update":1})"
                                                "\n"
                                                R"({"kind":"validation","update":1,"samples":)" +
                                                    samples + "}\n");
}

TEST(About, TellsWhatTheModelIs) {
  const SmallFolder folder(models::ModelKind::classifier);
  ExplorerState state = folder.state();
  const ordered_json model = about(state)["model"];
  EXPECT_EQ(model["kind"], "classifier");
  EXPECT_EQ(model["labels"].size(), 3u);
  EXPECT_EQ(model["sites"].size(), 2u);
  EXPECT_EQ(model["head_width"].get<Index>() * 2, model["config"]["d_model"].get<Index>());
}

TEST(About, ExamplesOfAnOwnModelAreTheSamplesOfItsRun) {
  const SmallFolder folder;
  ExplorerState state = folder.state();
  EXPECT_TRUE(about(state)["examples"].empty());  // it knows no sentence of the built-in corpus
  write_validation(folder.path(),
                   R"([{"source":"the bat","output":"x"},{"source":"","output":"y"},)"
                   R"({"source":"the cave is dark","output":"z"}])");
  EXPECT_EQ(about(state)["examples"], (ordered_json{"the bat", "the cave is dark"}));
}

TEST(About, ALogThatIsBrokenHasNoExamples) {
  const SmallFolder folder;
  ExplorerState state = folder.state();
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  for (const std::string& samples :
       {std::string(R"([{"source":)"), std::string("5"), std::string("[5]"),
        std::string(R"([{"source":5,"output":"x"}])"), std::string(R"({"source":"the bat"})"),
        std::string("null"), deep}) {
    write_validation(folder.path(), samples);
    EXPECT_TRUE(about(state)["examples"].empty()) << samples.substr(0, 40);
  }
}

}  // namespace
}  // namespace heed::explore
