#include "heed/train/task.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "heed/train/task_types.h"
#include "train/toy_classes.h"
#include "train/toy_images.h"
#include "train/toy_training.h"

namespace heed::train {
namespace {

TEST(ListPlaces, CountsFromOneAndListsTheFirstOnes) {
  const std::vector<Index> few{11, 844, 89};
  EXPECT_EQ(list_places("lines", few), "lines 12, 845, 90");
  const std::vector<Index> many{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_EQ(list_places("lines", many), "lines 1, 2, 3, 4, 5, 6, 7, 8 and 2 more");
}

std::string first_batch(Training training) {
  const TaskType& type = task_type_of(training.files);
  training.recipe.model.kind = type.model;
  const auto task = type.make(training.files, training.recipe);
  task->prepare("");
  return task->describe_batch(0, 0);
}

TEST(DescribeBatch, NamesTheLinesOfTheFilesWithThoseThatAreLeftOut) {
  const ToyTraining toy;
  // All but the last line are blank.
  std::ofstream(toy.file("train.en")) << "\n\n\nred green blue black white grey\n";
  std::ofstream(toy.file("train.de")) << "\n\n\ngrey white black blue green red\n";
  EXPECT_EQ(first_batch(toy.training("model")), "lines 4");
}

TEST(DescribeBatch, NamesTheLinesWhereTheWindowsOfATextBegin) {
  const TemporaryFolder folder;
  std::ofstream text(folder.file("text"));
  for (int i = 0; i < 20; ++i) text << "abcd\n";
  text.close();
  Training training{folder.file("model"), {{"text", folder.file("text")}}, recipe_preset("char")};
  training.recipe.model.decoder_layers = 1;
  training.recipe.model.model_dim = 16;
  training.recipe.model.num_heads = 2;
  training.recipe.model.max_positions = 5;  // as long as a line, so every window has its own
  training.recipe.training.batch_tokens = 40;
  std::istringstream words(first_batch(training));
  std::string word;
  for (const std::string expected : {"windows", "from", "lines"}) {
    words >> word;
    EXPECT_EQ(word, expected);
  }
  std::set<int> lines;
  while (words >> word) lines.insert(std::stoi(word));
  EXPECT_EQ(lines.size(), 8u);
  EXPECT_GE(*lines.begin(), 1);
  EXPECT_LE(*lines.rbegin(), 20);
}

TEST(DescribeBatch, NamesExamplesAndImages) {
  const ToyClasses toy;
  const ToyImages images;
  EXPECT_TRUE(first_batch(toy.classes("model")).starts_with("examples "));
  EXPECT_TRUE(first_batch(toy.masked("model")).starts_with("lines "));
  EXPECT_TRUE(first_batch(images.training("model")).starts_with("images "));
}

}  // namespace
}  // namespace heed::train
