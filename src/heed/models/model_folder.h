// A model on disk: a folder of files that other tools can read too.
//
//   config.json, model.safetensors, tokenizer.model, generation_config.json
//
// Every file is written aside, synced and renamed; everything read is checked before it is used,
// and what is wrong is an Error of kind model that names the file.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/models/classifier.h"
#include "heed/models/image_classifier.h"
#include "heed/models/language_model.h"
#include "heed/models/masked_model.h"
#include "heed/models/translation_model.h"
#include "heed/text/tokenizer.h"

namespace heed::models {

// How the model decodes unless it is told otherwise: generation_config.json.
struct GenerationConfig {
  Index beam_size = 5;
  double length_penalty = 1;
  Index max_length = 0;  // in tokens; 0: what the search makes of the source's length

  friend bool operator==(const GenerationConfig&, const GenerationConfig&) = default;
};

struct ModelFolder {
  TranslationModel model;
  text::Tokenizer tokenizer;
  GenerationConfig generation;
};

// The other kinds of models have no way to decode of their own.
template <typename Model>
struct PlainModelFolder {
  Model model;
  text::Tokenizer tokenizer;
};
using LanguageModelFolder = PlainModelFolder<LanguageModel>;
using ClassifierFolder = PlainModelFolder<Classifier>;
using MaskedModelFolder = PlainModelFolder<MaskedModel>;

// Refuses a folder that is not a model, or one of another kind, a tensor that is missing, has no
// place or another shape, a tokenizer of another size than the model's vocabulary, and a masked
// model whose tokenizer has no mask.
ModelFolder load_model_folder(const std::string& folder);
LanguageModelFolder load_language_model_folder(const std::string& folder);
ClassifierFolder load_classifier_folder(const std::string& folder);
MaskedModelFolder load_masked_model_folder(const std::string& folder);
ImageClassifier load_image_classifier(const std::string& folder);  // it has no tokenizer
// Makes the folder if need be. The weights come last, so a folder with weights is complete; they
// are kept in the nearest numbers of the format.
void save_model_folder(const std::string& folder, const TranslationModel& model,
                       const text::Tokenizer& tokenizer, const GenerationConfig& generation = {},
                       WeightFormat weights = WeightFormat::f32);
void save_model_folder(const std::string& folder, const LanguageModel& model,
                       const text::Tokenizer& tokenizer, WeightFormat weights = WeightFormat::f32);
void save_model_folder(const std::string& folder, const Classifier& model,
                       const text::Tokenizer& tokenizer);
void save_model_folder(const std::string& folder, const MaskedModel& model,
                       const text::Tokenizer& tokenizer);
void save_model_folder(const std::string& folder, const ImageClassifier& model);

// Single files of the folder.
std::string weights_path(const std::string& folder);
TransformerConfig load_config(const std::string& folder);
TranslationModel load_model(const std::string& folder);  // config.json and model.safetensors
LanguageModel load_language_model(const std::string& folder);
// The parameters of the folder's model, whatever its kind.
std::vector<nn::NamedTensor> load_parameters(const std::string& folder);
text::Tokenizer load_tokenizer(const std::string& folder);
void save_tokenizer(const std::string& folder, const text::Tokenizer& tokenizer);
GenerationConfig load_generation_config(const std::string& folder);  // the defaults when missing
void save_weights(const std::string& folder, std::span<const nn::NamedTensor> parameters,
                  WeightFormat format = WeightFormat::f32);

// The model's parameters, to read: they share their values with the model, except weights in fewer
// bits, which come as floats of their own.
template <typename Model>
std::vector<nn::NamedTensor> parameters(const Model& model) {
  Model shared = model;  // visiting wants a model that may be changed
  return nn::dequantized_parameters(shared);
}

// "sha256:" and the digest over all parameters in the order of their names: name, shape and the
// little-endian bytes of the floats. Equal weights, and nothing else, give equal hashes.
std::string weights_hash(std::span<const nn::NamedTensor> parameters);

}  // namespace heed::models
