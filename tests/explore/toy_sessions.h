// Small trained models of all kinds, as the explorer opens them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/explore/model_session.h"
#include "infer/memorised_generator.h"
#include "infer/memorised_translator.h"
#include "infer/toy_encoders.h"
#include "support/temporary_folder.h"

namespace heed::explore {

using SharedSession = std::shared_ptr<const ModelSession>;

template <typename Model>
SharedSession session_of(const Model& model, const text::Tokenizer& tokenizer) {
  const TemporaryFolder folder;
  models::save_model_folder(folder.path(), model, tokenizer);
  return std::make_shared<ModelSession>(folder.path());
}

// "one two" -> "eins zwei"
inline const SharedSession& toy_translation() {
  static const SharedSession session =
      session_of(infer::word_by_word_model().model, infer::word_by_word_model().tokenizer);
  return session;
}

// Characters of "the bat sat in a cave".
inline const SharedSession& toy_language() {
  static const SharedSession session =
      session_of(infer::rhyme_model().model, infer::rhyme_model().tokenizer);
  return session;
}

// "the red" is warm.
inline const SharedSession& toy_classifier() {
  static const SharedSession session =
      session_of(infer::toy_classifier().model, infer::toy_classifier().tokenizer);
  return session;
}

// "the <mask>"
inline const SharedSession& toy_masked() {
  static const SharedSession session =
      session_of(infer::toy_masked_model().model, infer::toy_masked_model().tokenizer);
  return session;
}

// "the green hill" is a place.
inline const SharedSession& toy_tagger() {
  static const SharedSession session =
      session_of(infer::toy_tagger().model, infer::toy_tagger().tokenizer);
  return session;
}

}  // namespace heed::explore
