// Lines with labels that a model learns in a second, for tests: what is there names the class.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "heed/base/random.h"
#include "heed/train/training.h"
#include "support/temporary_folder.h"

namespace heed::train {

class ToyClasses {
 public:
  ToyClasses() {
    write("train.tsv", 120, 1);
    write("valid.tsv", 24, 2);
  }

  std::string file(const std::string& name) const { return folder_.file(name); }

  // Also NAME.txt, the same lines without their labels.
  void write(const std::string& name, int count, std::uint64_t key) const {
    static const std::vector<std::string> words{"red", "green", "blue", "the", "a", "in"};
    static const std::vector<std::string> labels{"warm", "calm", "cold"};
    std::ofstream labelled(file(name)), text(file(name + ".txt"));
    Rng rng(key);
    for (int i = 0; i < count; ++i) {
      const std::uint64_t of_class = rng.below(3);
      std::string line = words[3 + rng.below(3)] + ' ' + words[of_class];
      for (std::uint64_t j = rng.below(4); j > 0; --j) line += ' ' + words[3 + rng.below(3)];
      labelled << labels[of_class] << '\t' << line << '\n';
      text << line << '\n';
    }
  }

  Training classes(const std::string& model) const {
    return {file(model),
            {{"labelled", file("train.tsv")}, {"valid-labelled", file("valid.tsv")}},
            small(recipe_preset("classes"))};
  }

  // Lines of another problem, and their file for validation.
  Training classes(const std::string& model, const std::string& lines) const {
    Training training = classes(model);
    training.files = {{"labelled", file(lines)}, {"valid-labelled", file(lines)}};
    return training;
  }

  Training masked(const std::string& model) const {
    return {file(model),
            {{"masked", file("train.tsv.txt")}, {"valid-masked", file("valid.tsv.txt")}},
            small(recipe_preset("masked"))};
  }

  // The preset for a network that is trained in a second.
  static Recipe small(Recipe recipe) {
    recipe.model.encoder_layers = 1;
    recipe.model.model_dim = 16;
    recipe.model.feed_forward_dim = 24;
    recipe.model.num_heads = 2;
    recipe.model.dropout = 0.1f;
    recipe.tokenizer = {.vocabulary = 20, .subwords = text::Subwords::word};
    recipe.training.batch_tokens = 96;
    recipe.training.max_length = 32;
    recipe.training.schedule.warm_up = 4;
    recipe.training.schedule.peak = 0.02;
    recipe.training.validate_every = parse_interval("7u", "");
    recipe.training.save_every = parse_interval("5u", "");
    recipe.training.after = parse_run_length("24u", "");
    return recipe;
  }

 private:
  TemporaryFolder folder_;
};

// Remembers what it is told, and stops after an update.
struct Watcher : TrainingObserver {
  Index stop_after = -1;
  RunStart start;
  std::vector<UpdateReport> updates;
  std::vector<ValidationReport> validations;

  bool should_stop() override {
    const Index update = updates.empty() ? start.update : updates.back().update;
    return stop_after >= 0 && update >= stop_after;
  }
  void on_start(const RunStart& report) override { start = report; }
  void on_update(const UpdateReport& report) override { updates.push_back(report); }
  void on_validation(const ValidationReport& report) override { validations.push_back(report); }
};

inline std::string hash_after(const Training& training) {
  return train_model(training).weights_hash;
}

}  // namespace heed::train
