// Small trained models of all kinds, as the explorer opens them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "generate/memorised_translator.h"
#include "generate/memorised_writer.h"
#include "generate/toy_encoders.h"
#include "heed/explore/model_session.h"
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
      session_of(generate::word_by_word_model().model, generate::word_by_word_model().tokenizer);
  return session;
}

// Characters of "the bat sat in a cave".
inline const SharedSession& toy_language() {
  static const SharedSession session =
      session_of(generate::rhyme_model().model, generate::rhyme_model().tokenizer);
  return session;
}

// "the red" is warm.
inline const SharedSession& toy_classifier() {
  static const SharedSession session =
      session_of(generate::toy_classifier().model, generate::toy_classifier().tokenizer);
  return session;
}

// "the <mask>"
inline const SharedSession& toy_masked() {
  static const SharedSession session =
      session_of(generate::toy_masked_model().model, generate::toy_masked_model().tokenizer);
  return session;
}

}  // namespace heed::explore
