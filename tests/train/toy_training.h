// A translation task that trains in milliseconds, for tests: sentences of a few words, reversed.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "heed/base/random.h"
#include "heed/train/training.h"
#include "support/temporary_folder.h"

namespace heed::train {

class ToyTraining {
 public:
  ToyTraining() {
    write_pairs("train", 60, 1);
    write_pairs("valid", 12, 2);
  }

  std::string file(const std::string& name) const { return folder_.file(name); }

  void write_pairs(const std::string& name, int count, std::uint64_t key) const {
    static const std::vector<std::string> words{"red", "green", "blue", "black", "white", "grey"};
    std::ofstream source(file(name + ".en")), target(file(name + ".de"));
    Rng rng(key);
    for (int i = 0; i < count; ++i) {
      std::string forward, backward;
      for (std::uint64_t j = 0, length = 2 + rng.below(4); j < length; ++j) {
        const std::string& word = words[rng.below(words.size())];
        forward += (forward.empty() ? "" : " ") + word;
        backward = word + (backward.empty() ? "" : " ") + backward;
      }
      source << forward << '\n';
      target << backward << '\n';
    }
  }

  // About six updates an epoch.
  Training training(const std::string& model) const {
    Training training;
    training.model_folder = file(model);
    training.files = {{"source", file("train.en")},
                      {"target", file("train.de")},
                      {"valid-source", file("valid.en")},
                      {"valid-target", file("valid.de")}};
    training.recipe.model.encoder_layers = training.recipe.model.decoder_layers = 1;
    training.recipe.model.model_dim = 16;
    training.recipe.model.feed_forward_dim = 24;
    training.recipe.model.num_heads = 2;
    training.recipe.model.dropout = 0.1f;
    training.recipe.tokenizer = {.vocabulary = 20, .subwords = text::Subwords::word};
    training.recipe.training.batch_tokens = 48;
    training.recipe.training.max_length = 32;
    training.recipe.training.schedule.warm_up = 4;
    training.recipe.training.schedule.peak = 0.01;
    training.recipe.training.after = parse_run_length("16u", "after");
    return training;
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace heed::train
