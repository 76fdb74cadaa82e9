// Words with tags that a model learns in seconds, for tests: "the green hill" is one place of three
// words, "red" and "blue" are colours of their own.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "heed/base/random.h"
#include "heed/train/training.h"
#include "support/temporary_folder.h"
#include "train/toy_classes.h"

namespace heed::train {

class ToyTags {
 public:
  ToyTags() {
    write("train.conll", 120, 1);
    write("valid.conll", 24, 2);
  }

  std::string file(const std::string& name) const { return folder_.file(name); }

  // Also NAME.txt, the same sentences without their tags.
  void write(const std::string& name, int count, std::uint64_t key) const {
    std::ofstream tagged(file(name)), text(file(name + ".txt"));
    Rng rng(key);
    for (int i = 0; i < count; ++i) {
      for (std::uint64_t j = 2 + rng.below(3); j > 0; --j) {
        for (const auto& [word, tag] : phrases()[rng.below(phrases().size())]) {
          tagged << word << ' ' << tag << '\n';
          text << word << ' ';
        }
      }
      tagged << '\n';
      text << '\n';
    }
  }

  Training tags(const std::string& model) const {
    Training training{file(model),
                      {{"tagged", file("train.conll")}, {"valid-tagged", file("valid.conll")}},
                      ToyClasses::small(recipe_preset("tags"))};
    training.recipe.training.after = parse_run_length("60u", "");
    return training;
  }

  Training masked(const std::string& model) const {
    return {file(model),
            {{"masked", file("train.conll.txt")}},
            ToyClasses::small(recipe_preset("masked"))};
  }

 private:
  struct TaggedWord {
    std::string word, tag;
  };
  static const std::vector<std::vector<TaggedWord>>& phrases() {
    static const std::vector<std::vector<TaggedWord>> all{
        {{"the", "B-PLACE"}, {"green", "I-PLACE"}, {"hill", "I-PLACE"}},
        {{"red", "B-COLOUR"}},
        {{"blue", "B-COLOUR"}},
        {{"of", "O"}},
        {{"in", "O"}, {"a", "O"}}};
    return all;
  }

  TemporaryFolder folder_;
};

}  // namespace heed::train
