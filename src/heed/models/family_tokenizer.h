// A tokenizer that Heed has trained, in the files that a family's programs read: the same ids.
#pragma once

#include <string>

#include "heed/models/transformer_config.h"
#include "heed/text/tokenizer.h"

namespace heed::models {

// Of Marian source.spm, target.spm and vocab.json, of the others tokenizer.json; and
// tokenizer_config.json. What is tokenized differs where a text holds the name of a special token,
// such as </s>, or of a language code, such as >>fr<<, and, of tokenizer.json, where unigrams have
// several ways of the same score. `name` stands for the tokenizer in messages. Refuses
// (ErrorKind::model) tokenizers that the files have no form for: bytes for Marian, words for the
// others.
text::TokenizerFiles family_tokenizer_files(const text::Tokenizer& tokenizer,
                                            const TransformerConfig& form, const std::string& name);

}  // namespace heed::models
