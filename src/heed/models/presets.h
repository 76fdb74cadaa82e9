// Configurations to start from: one for each kind of model, and presets by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/models/transformer_config.h"

namespace heed::models {

// Complete configurations of small models, ready to build; change any field. They are the presets
// tiny, gpt-mini, classes, masked, images and tags.
TransformerConfig translation_config(Index vocabulary);
TransformerConfig language_config(Index vocabulary);
TransformerConfig classifier_config(Index vocabulary, std::vector<std::string> labels);
TransformerConfig masked_config(Index vocabulary);
TransformerConfig image_classifier_config(std::vector<std::string> labels);
TransformerConfig tagger_config(Index vocabulary, std::vector<std::string> labels);

// tiny, small, base, demo for translation; char, gpt-mini, gpt2 for language models; classes for
// classifiers, masked for masked language models, images for image classifiers, tags for taggers.
// Without vocabulary and labels, which come from the data. Refuses other names and lists these.
TransformerConfig transformer_preset(std::string_view name);
std::vector<std::string> preset_names();

}  // namespace heed::models
