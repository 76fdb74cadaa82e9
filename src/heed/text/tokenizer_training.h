// Trains a SentencePiece model on lines of text.
#pragma once

#include <span>
#include <string>

#include "heed/text/tokenizer.h"

namespace heed::text {

// The serialised model; see Tokenizer::train for guarantees and errors.
std::string train_sentencepiece(std::span<const std::string> lines,
                                const TokenizerOptions& options);

}  // namespace heed::text
