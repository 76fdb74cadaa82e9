// The smallest model of each kind, as the files of its folder in memory.
#pragma once

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "heed/io/files.h"
#include "heed/models/classifier.h"
#include "heed/models/image_classifier.h"
#include "heed/models/language_model.h"
#include "heed/models/masked_model.h"
#include "heed/models/model_folder.h"
#include "heed/models/model_kinds.h"
#include "heed/models/translation_model.h"
#include "support/temporary_folder.h"

namespace heed {

// Two letters and a mask.
inline const text::Tokenizer& tiny_tokenizer() {
  static const text::Tokenizer tokenizer = text::Tokenizer::train(
      std::vector<std::string>{"ab ba"},
      {.vocabulary = 16, .subwords = text::Subwords::character, .with_mask = true});
  return tokenizer;
}

inline models::TransformerConfig tiny_config(models::ModelKind kind) {
  models::TransformerConfig config;
  config.kind = kind;
  config.vocabulary = models::has_text(kind) ? tiny_tokenizer().size() : 0;
  config.encoder_layers = models::has_encoder(kind) ? 1 : 0;
  config.decoder_layers = models::has_decoder(kind) ? 1 : 0;
  config.model_dim = config.feed_forward_dim = 2;
  config.num_heads = 1;
  config.max_positions = 16;
  if (models::has_classes(kind)) config.labels = {"cold", "warm"};
  config.image_height = config.image_width = 2;
  config.patch_side = 1;
  return config;
}

// File names and their bytes.
struct ModelFiles {
  std::map<std::string, std::string> files;

  std::string& operator[](const std::string& name) { return files[name]; }
  void write_to(const std::string& folder) const {
    for (const auto& [name, bytes] : files) {
      std::ofstream(folder + '/' + name, std::ios::binary) << bytes;
    }
  }
};

inline ModelFiles files_of(const std::string& folder) {
  ModelFiles model;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    model[entry.path().filename().string()] = io::read_file(entry.path().string());
  }
  return model;
}

inline ModelFiles tiny_model(models::ModelKind kind,
                             models::WeightFormat format = models::WeightFormat::f32) {
  const TemporaryFolder folder;
  models::with_model_class(kind, [&]<typename Model>(std::type_identity<Model>) {
    const Model model(tiny_config(kind), /*seed=*/1);
    if constexpr (models::TextModel<Model>) {
      models::save_model_folder(folder.path(), model, tiny_tokenizer(),
                                {.beam_size = 2, .max_length = 2}, format);
    } else {
      models::save_model_folder(folder.path(), model);
    }
  });
  return files_of(folder.path());
}

inline ModelFiles tiny_translation() { return tiny_model(models::ModelKind::translation); }

}  // namespace heed
