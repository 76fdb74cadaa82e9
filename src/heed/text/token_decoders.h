// The section `decoder` of a tokenizer.json: tokens to text.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heed/io/json_fields.h"

namespace heed::text {

// Changes tokens to texts that are then joined. Any number of threads may call one at the same
// time.
using TokenDecoder = std::function<void(std::vector<std::string>&)>;

// Refuses (ErrorKind::model) what it does not know, by name.
TokenDecoder read_token_decoder(const io::JsonFields& fields);

}  // namespace heed::text
