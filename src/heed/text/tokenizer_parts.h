// The parts of a Tokenizer, for those who make one.
#pragma once

#include <memory>

#include "heed/text/tokenizer.h"
#include "heed/text/tokenizer_model.h"

namespace heed::text {

struct Tokenizer::Parts {
  std::unique_ptr<const TokenizerModel> model;
  SpecialTokens tokens = {};
  SequenceTemplate sequence = {};
  std::optional<int> mask = std::nullopt;
  TokenizerFiles files = {};
  bool is_own = false;
};

}  // namespace heed::text
