// A model on disk: a folder of files that other tools can read too.
//
//   config.json, model.safetensors, tokenizer.model, generation_config.json
//
// Every file is written aside, synced and renamed; everything read is checked before it is used,
// and what is wrong is an Error of kind model that names the file.
#pragma once

#include <array>
#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/models/generation_config.h"
#include "heed/models/transformer_config.h"
#include "heed/nn/module.h"
#include "heed/text/tokenizer.h"

namespace heed::models {

// The files above; a folder of images has two of them.
inline constexpr std::array model_files{"model.safetensors", "config.json", "tokenizer.model",
                                        "generation_config.json"};

template <typename Model>
struct ModelFolder {
  Model model;
  text::Tokenizer tokenizer;
  GenerationConfig generation = {};  // of translation and language models
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

// How a loaded model holds its weights.
struct LoadOptions {
  // Holds them once, packed as they are read, and half floats as they are. Such a model cannot be
  // trained.
  bool for_inference = false;
  // The format to quantize or dequantize them to; not given: that of the folder.
  std::optional<WeightFormat> weights = std::nullopt;
};

// The functions of a model class exist for these seven; include the header of the one you load.
//
// Loading refuses a folder that is not a model, or one of another kind, a tensor that is missing,
// unknown or of another shape, weights that are not finite or do not fit their checksum, a
// tokenizer of another size than the model's vocabulary (one of another family may be smaller), a
// masked model whose tokenizer has no mask, and weights of int8 or int4 that would be rounded
// again.
//
// Folders of Hugging Face (see family.h) are read like Heed's own, and what came from one is
// written back in its layout.
template <TextModel Model>
ModelFolder<Model> load_model_folder(const std::string& folder, const LoadOptions& options = {});
template <typename Model>  // config.json and model.safetensors alone
Model load_model(const std::string& folder, const LoadOptions& options = {});

// Makes the folder if need be. The weights come last, so a folder with weights is complete; they
// are rounded to the nearest numbers of the format. `generation` is saved for translation models.
// Refuses (ErrorKind::model) weights that are not finite, before it writes anything.
template <TextModel Model>
void save_model_folder(const std::string& folder, const Model& model,
                       const text::Tokenizer& tokenizer, const GenerationConfig& generation = {},
                       WeightFormat weights = WeightFormat::f32);
void save_model_folder(const std::string& folder, const ImageClassifier& model,
                       WeightFormat weights = WeightFormat::f32);
// config.json and model.safetensors alone.
template <typename Model>
void save_model(const std::string& folder, const Model& model,
                WeightFormat weights = WeightFormat::f32);

// Single files of the folder.
std::string weights_path(const std::string& folder);
TransformerConfig load_config(const std::string& folder);
void save_config(const std::string& folder, const TransformerConfig& config);
// The parameters of the folder's model, whatever its kind.
std::vector<nn::NamedTensor> load_parameters(const std::string& folder);
text::Tokenizer load_tokenizer(const std::string& folder);
void save_tokenizer(const std::string& folder, const text::Tokenizer& tokenizer);
void save_weights(const std::string& folder, std::span<const nn::NamedTensor> parameters,
                  WeightFormat format = WeightFormat::f32);

// "sha256:" and the digest over all parameters in the order of their names: name, shape and the
// little-endian bytes of the floats. Equal weights, and nothing else, give equal hashes.
std::string weights_hash(std::span<const nn::NamedTensor> parameters);

}  // namespace heed::models
