// The setting that the pre-tokenizer Metaspace and the decoder of that name share.
#pragma once

#include <string>

#include "heed/io/json_fields.h"

namespace heed::text {

// Where a text gets a space before it: every part of it, the first one, or none.
enum class PrependScheme { always, first, never };

struct Metaspace {
  std::string replacement;  // what stands for a space: one character
  PrependScheme prepend_scheme = PrependScheme::always;
  bool splits = true;
};

Metaspace read_metaspace(const io::JsonFields& fields);

// A field that holds one character. Refuses (ErrorKind::model) others.
std::string one_character(const io::JsonFields& fields, const std::string& name);

}  // namespace heed::text
