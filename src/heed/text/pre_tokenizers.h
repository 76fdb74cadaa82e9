// The section `pre_tokenizer` of a tokenizer.json.
#pragma once

#include <functional>

#include "heed/io/json_fields.h"
#include "heed/text/text_pieces.h"

namespace heed::text {

// Splits a text further. Any number of threads may call one at the same time.
using PreTokenizer = std::function<void(TextPieces&)>;

// Refuses (ErrorKind::model) what it does not know, by name.
PreTokenizer read_pre_tokenizer(const io::JsonFields& fields);

}  // namespace heed::text
