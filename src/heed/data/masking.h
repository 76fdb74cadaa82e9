// Random masking of tokens, for masked language modelling.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/base/index.h"
#include "heed/base/random.h"
#include "heed/text/tokenizer.h"

namespace heed::data {

struct MaskingOptions {
  int mask = 0;                    // the id of the mask token
  std::vector<int> ordinary = {};  // tokens that may replace another one
  std::vector<int> special = {};   // those that are never chosen, in order
  std::uint64_t seed = 1;
  double share = 0.15;  // of the tokens of a line
};

// A line with some of its tokens masked, and the original tokens.
struct MaskedLine {
  std::vector<int> ids;
  std::vector<Index> places;
  std::vector<int> hidden;
};

// All ordinary tokens of a tokenizer. Refuses (ErrorKind::model) one without a mask.
MaskingOptions masking_options(const text::Tokenizer& tokenizer, std::uint64_t seed);

// Devlin and others 2019, section 3.1: of the chosen tokens 80% become the mask, 10% another
// token, and 10% stay as they are, so that the model does not know which tokens it has to predict.
// One token is always chosen.
class Masking {
 public:
  // Refuses a vocabulary of nothing but special tokens.
  explicit Masking(MaskingOptions options);

  // `ids` is a line with at least one token that is not special. A function of the seed, the epoch
  // and the line's number alone.
  MaskedLine apply(std::span<const int> ids, Index epoch, Index line) const;

 private:
  int shown_token(int token, Rng& rng) const;

  MaskingOptions options_;
};

}  // namespace heed::data
