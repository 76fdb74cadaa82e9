// A SentencePiece model of bytes: a piece for each of the 256, and nothing to learn.
#pragma once

#include <string>

namespace heed::text {

// The serialised model. Encoding gives the bytes of a text, spaces and line ends like all others.
std::string byte_sentencepiece();

}  // namespace heed::text
