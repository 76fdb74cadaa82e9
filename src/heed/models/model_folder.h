// A translation model on disk: a folder of files that other tools can read too.
//
//   config.json, model.safetensors, tokenizer.model, generation_config.json
//
// Every file is written aside, synced and renamed; everything read is checked before it is used,
// and what is wrong is an Error of kind model that names the file.
#pragma once

#include <span>
#include <string>
#include <vector>

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

// Refuses a folder that is not a model, a tensor that is missing, has no place or another shape,
// and a tokenizer of another size than the model's vocabulary.
ModelFolder load_model_folder(const std::string& folder);
// Makes the folder if need be. The weights come last, so a folder with weights is complete.
void save_model_folder(const std::string& folder, const TranslationModel& model,
                       const text::Tokenizer& tokenizer, const GenerationConfig& generation = {});

// Single files of the folder.
TransformerConfig load_config(const std::string& folder);
TranslationModel load_model(const std::string& folder);  // config.json and model.safetensors
text::Tokenizer load_tokenizer(const std::string& folder);
GenerationConfig load_generation_config(const std::string& folder);  // the defaults when missing
void save_weights(const std::string& folder, const TranslationModel& model);

// The model's parameters, to read: they share their values with the model.
std::vector<nn::NamedTensor> parameters(const TranslationModel& model);

// "sha256:" and the digest over all parameters in the order of their names: name, shape and the
// little-endian bytes of the floats. Equal weights, and nothing else, give equal hashes.
std::string weights_hash(std::span<const nn::NamedTensor> parameters);

}  // namespace heed::models
