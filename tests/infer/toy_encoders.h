// A classifier, a masked model and a tagger that know a small language, trained once in a process.
#pragma once

#include "heed/models/classifier.h"
#include "heed/models/encoder.h"
#include "heed/models/masked_model.h"
#include "heed/models/model_folder.h"
#include "heed/models/tagger.h"
#include "train/toy_problems.h"
#include "train/toy_tags.h"

namespace heed::infer {

// "the red", "a blue in": red is warm, green is calm, blue is cold.
inline const models::ClassifierFolder& toy_classifier() {
  static const models::ClassifierFolder model = [] {
    const train::ToyClasses toy;
    train::hash_after(toy.classes("model"));
    return models::load_model_folder<models::Classifier>(toy.file("model"));
  }();
  return model;
}

// The problems of train::ToyProblems.
using ToyProblem = train::Training (train::ToyProblems::*)(const std::string& model) const;
inline models::ClassifierFolder trained(ToyProblem problem) {
  const train::ToyProblems toy;
  train::hash_after((toy.*problem)("model"));
  return models::load_model_folder<models::Classifier>(toy.file("model"));
}
inline const models::ClassifierFolder& toy_pairs() {
  static const models::ClassifierFolder model = trained(&train::ToyProblems::pairs);
  return model;
}
inline const models::ClassifierFolder& toy_label_sets() {
  static const models::ClassifierFolder model = trained(&train::ToyProblems::label_sets);
  return model;
}
inline const models::ClassifierFolder& toy_numbers() {
  static const models::ClassifierFolder model = trained(&train::ToyProblems::numbers);
  return model;
}

// The same lines; the second word is a colour, all others are small words.
inline const models::MaskedModelFolder& toy_masked_model() {
  static const models::MaskedModelFolder model = [] {
    const train::ToyClasses toy;
    train::Training training = toy.masked("model");
    training.recipe.training.after = train::parse_run_length("150u", "");
    train::hash_after(training);
    return models::load_model_folder<models::MaskedModel>(toy.file("model"));
  }();
  return model;
}

// "the green hill" is a place, "red" and "blue" are colours.
inline const models::TaggerFolder& toy_tagger() {
  static const models::TaggerFolder model = [] {
    const train::ToyTags toy;
    train::hash_after(toy.tags("model"));
    return models::load_model_folder<models::Tagger>(toy.file("model"));
  }();
  return model;
}

}  // namespace heed::infer
