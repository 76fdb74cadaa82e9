// Loads the model of a folder, whatever its kind, and runs it once as the program does.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/infer/fill_mask.h"
#include "heed/infer/image_labeller.h"
#include "heed/infer/line_classifier.h"
#include "heed/infer/line_tagger.h"
#include "heed/infer/sentence_encoder.h"
#include "heed/infer/text_generator.h"
#include "heed/infer/translator.h"
#include "heed/models/model_folder.h"

namespace heed {

inline std::string label_of_dark_image(const std::string& folder) {
  const models::TransformerConfig config = models::load_config(folder);
  const std::vector<std::uint8_t> pixels(
      static_cast<std::size_t>(config.image_height * config.image_width * config.image_channels));
  const std::span<const std::uint8_t> images[] = {pixels};
  return infer::ImageLabeller::load(folder).classify(images).front().front().label;
}

// The answer to a few letters, or to a dark image.
inline std::string load_and_run(const std::string& folder) {
  switch (models::load_config(folder).kind) {
    case models::ModelKind::translation:
      return infer::Translator::load(folder).translate("ab");
    case models::ModelKind::language:
      return infer::TextGenerator::load(folder).generate("ab", {.max_tokens = 2});
    case models::ModelKind::classifier:
      return infer::LineClassifier::load(folder).classify("ab").label;
    case models::ModelKind::masked:
      return infer::FillMask::load(folder).fill("a <mask>", 1).front().front().word;
    case models::ModelKind::image_classifier:
      return label_of_dark_image(folder);
    case models::ModelKind::tagger:
      return infer::LineTagger::load(folder).tag("ab").front().tag;
    case models::ModelKind::encoder:
      return std::to_string(infer::SentenceEncoder::load(folder).encode("ab").front());
  }
  return {};
}

}  // namespace heed
