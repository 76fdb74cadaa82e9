// BPE-dropout: subwords with some merges left out at random, so that a model sees a word
// segmented in many ways (Provilkov, Emelianenko and Voita, ACL 2020).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "heed/text/tokenizer.h"

namespace heed::text {

// Immutable. Copies share the rules, and any number of threads may use one at the same time.
class BpeDropout {
 public:
  // Every merge is left out with the probability `rate`, from 0 to below 1. Refuses
  // (ErrorKind::usage) other rates, and tokenizers that Tokenizer::train does not make: of other
  // pieces than bpe, with pieces for bytes, or that change the text.
  BpeDropout(const Tokenizer& tokenizer, double rate);

  // Of a text in UTF-8. The ids are a function of text and key alone, and decode to the same text
  // as those of Tokenizer::encode, which they are with rate 0.
  std::vector<int> encode(std::string_view text, std::uint64_t key) const;

 private:
  struct Rules;

  std::shared_ptr<const Rules> rules_;
  double rate_;
};

}  // namespace heed::text
