// The section `normalizer` of a tokenizer.json.
#pragma once

#include <functional>

#include "heed/io/json_fields.h"
#include "heed/text/aligned_text.h"

namespace heed::text {

// Changes a text. Any number of threads may call one at the same time.
using Normalizer = std::function<void(AlignedText&)>;

// Refuses (ErrorKind::model) what it does not know, by name.
Normalizer read_normalizer(const io::JsonFields& fields);

}  // namespace heed::text
