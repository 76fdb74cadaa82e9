// Problems of lines besides one class for each, which a model learns in a second, for tests.
#pragma once

#include <fstream>
#include <string>

#include "heed/train/recipe_fields.h"
#include "train/toy_classes.h"

namespace heed::train {

class ToyProblems : public ToyClasses {
 public:
  ToyProblems() {
    write_pairs();
    write_label_sets();
    write_numbers();
  }

  // How many of two texts are red: none, one, both.
  Training pairs(const std::string& model) const { return longer(classes(model, "pairs.tsv")); }
  // The colours that a text has, which may be none.
  Training label_sets(const std::string& model) const {
    return of_problem("multi_label_classification", classes(model, "sets.tsv"));
  }
  // 1000 plus 100 for every red of four words.
  Training numbers(const std::string& model) const {
    return of_problem("regression", classes(model, "numbers.tsv"));
  }

 private:
  static Training longer(Training training) {
    training.recipe.model.dropout = 0;
    training.recipe.training.batch_tokens = 256;
    training.recipe.training.after = parse_run_length("120u", "");
    training.recipe.training.validate_every = parse_interval("30u", "");
    return training;
  }
  static Training of_problem(const std::string& problem, Training training) {
    customize(training.recipe, {{"problem-type", problem}});
    return longer(std::move(training));
  }

  void write_pairs() const {
    std::ofstream out(file("pairs.tsv"));
    out << "label\tsentence1\tsentence2\n";
    const std::string labels[]{"none", "one", "both"};
    Rng rng(3);
    for (int i = 0; i < 90; ++i) {
      const auto first = rng.below(2), second = rng.below(2);
      out << labels[first + second] << '\t' << text_with(first, rng) << '\t'
          << text_with(second, rng) << '\n';
    }
  }
  static std::string text_with(std::uint64_t num_red, Rng& rng) {
    return std::string(rng.below(2) ? "the " : "a ") + (num_red > 0 ? "red" : "blue");
  }

  void write_label_sets() const {
    std::ofstream out(file("sets.tsv"));
    Rng rng(4);
    for (int i = 0; i < 120; ++i) {
      const bool is_red = rng.below(2) > 0, is_blue = rng.below(2) > 0;
      out << (is_red ? "warm" : "") << (is_red && is_blue ? "|" : "") << (is_blue ? "cold" : "")
          << '\t' << (rng.below(2) ? "the" : "a") << (is_red ? " red" : "")
          << (is_blue ? " blue" : "") << " in\n";
    }
  }

  void write_numbers() const {
    std::ofstream out(file("numbers.tsv"));
    Rng rng(5);
    for (int i = 0; i < 120; ++i) {
      int number = 1000;
      std::string text;
      for (int word = 0; word < 4; ++word) {
        const bool is_red = rng.below(2) > 0;
        number += is_red ? 100 : 0;
        text += (text.empty() ? "" : " ") + std::string(is_red ? "red" : "blue");
      }
      out << number << '\t' << text << '\n';
    }
  }
};

}  // namespace heed::train
