// From the kind in a configuration to the class of the model.
#pragma once

#include <type_traits>

#include "heed/models/classifier.h"
#include "heed/models/encoder.h"
#include "heed/models/image_classifier.h"
#include "heed/models/language_model.h"
#include "heed/models/masked_model.h"
#include "heed/models/tagger.h"
#include "heed/models/translation_model.h"

namespace heed::models {

// Calls work(std::type_identity<Model>()) with the class of this kind.
template <typename Work>
auto with_model_class(ModelKind kind, Work&& work) {
  switch (kind) {
    case ModelKind::language:
      return work(std::type_identity<LanguageModel>());
    case ModelKind::classifier:
      return work(std::type_identity<Classifier>());
    case ModelKind::masked:
      return work(std::type_identity<MaskedModel>());
    case ModelKind::image_classifier:
      return work(std::type_identity<ImageClassifier>());
    case ModelKind::tagger:
      return work(std::type_identity<Tagger>());
    case ModelKind::encoder:
      return work(std::type_identity<Encoder>());
    case ModelKind::translation:
      break;
  }
  return work(std::type_identity<TranslationModel>());
}

}  // namespace heed::models
