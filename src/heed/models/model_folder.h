// A model on disk: a folder of files that other tools can read too.
//
//   config.json, model.safetensors, tokenizer.model, generation_config.json
//
// Every file is written aside, synced and renamed; everything read is checked before it is used,
// and what is wrong is an Error of kind model that names the file.
#pragma once

#include <array>
#include <concepts>
#include <span>
#include <string>
#include <vector>

#include "heed/models/transformer_config.h"
#include "heed/nn/module.h"
#include "heed/text/tokenizer.h"

namespace heed::models {

inline constexpr Index max_beam_size = 1000;
inline constexpr double max_length_penalty = 10;            // either way
inline constexpr Index max_output_length = Index{1} << 20;  // in tokens

// The files above; a folder of images has two of them.
inline constexpr std::array model_files{"model.safetensors", "config.json", "tokenizer.model",
                                        "generation_config.json"};

// The default settings of beam search for a model: generation_config.json.
struct GenerationConfig {
  Index beam_size = 5;
  double length_penalty = 1;
  Index max_length = 0;  // in tokens; 0: the search derives it from the source's length

  friend bool operator==(const GenerationConfig&, const GenerationConfig&) = default;
};

template <typename Model>
struct ModelFolder {
  Model model;
  text::Tokenizer tokenizer;
  GenerationConfig generation = {};  // of translation models
};
class Classifier;
class Encoder;
class ImageClassifier;
class LanguageModel;
class MaskedModel;
class Tagger;
class TranslationModel;
using TranslationModelFolder = ModelFolder<TranslationModel>;
using LanguageModelFolder = ModelFolder<LanguageModel>;
using ClassifierFolder = ModelFolder<Classifier>;
using MaskedModelFolder = ModelFolder<MaskedModel>;
using TaggerFolder = ModelFolder<Tagger>;
using EncoderFolder = ModelFolder<Encoder>;

// A model with a tokenizer in its folder.
template <typename Model>
concept TextModel = std::same_as<Model, TranslationModel> || std::same_as<Model, LanguageModel> ||
    std::same_as<Model, Classifier> || std::same_as<Model, MaskedModel> ||
    std::same_as<Model, Tagger> || std::same_as<Model, Encoder>;

// The functions of a model class exist for these seven; include the header of the one you load.
//
// Loading refuses a folder that is not a model, or one of another kind, a tensor that is missing,
// unknown or of another shape, weights that are not finite or do not fit their checksum, a
// tokenizer of another size than the model's vocabulary (one of another family may be smaller), and
// a masked model whose tokenizer has no mask.
template <TextModel Model>
ModelFolder<Model> load_model_folder(const std::string& folder);
template <typename Model>
Model load_model(const std::string& folder);  // config.json and model.safetensors alone

// Makes the folder if need be. The weights come last, so a folder with weights is complete; they
// are rounded to the nearest numbers of the format. `generation` is saved for translation models.
// Refuses (ErrorKind::model) weights that are not finite, before it writes anything.
template <TextModel Model>
void save_model_folder(const std::string& folder, const Model& model,
                       const text::Tokenizer& tokenizer, const GenerationConfig& generation = {},
                       WeightFormat weights = WeightFormat::f32);
void save_model_folder(const std::string& folder, const ImageClassifier& model);

// Single files of the folder.
std::string weights_path(const std::string& folder);
TransformerConfig load_config(const std::string& folder);
void save_config(const std::string& folder, const TransformerConfig& config);
// The parameters of the folder's model, whatever its kind.
std::vector<nn::NamedTensor> load_parameters(const std::string& folder);
text::Tokenizer load_tokenizer(const std::string& folder);
void save_tokenizer(const std::string& folder, const text::Tokenizer& tokenizer);
GenerationConfig load_generation_config(const std::string& folder);  // the defaults when missing
void save_weights(const std::string& folder, std::span<const nn::NamedTensor> parameters,
                  WeightFormat format = WeightFormat::f32);

// "sha256:" and the digest over all parameters in the order of their names: name, shape and the
// little-endian bytes of the floats. Equal weights, and nothing else, give equal hashes.
std::string weights_hash(std::span<const nn::NamedTensor> parameters);

}  // namespace heed::models
