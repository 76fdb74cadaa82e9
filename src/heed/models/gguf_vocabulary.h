// The tokenizer of a model in the form of a GGUF file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/special_tokens.h"

namespace heed::io {
class GgufWriter;
}

namespace heed::models {

struct GgufVocabulary {
  std::string model = {};  // llama: SentencePiece's BPE; t5: its unigrams; gpt2: byte-level BPE
  std::string pre_tokenizer = "default";
  std::vector<std::string> tokens = {};  // by id
  std::vector<float> scores = {};        // unless it is byte-level BPE
  std::vector<std::int32_t> types =
      {};  // SentencePiece's numbers: 1 normal, 2 unknown, 3 control ...
  std::vector<std::string> merges = {};  // of byte-level BPE, "a b"
  bool has_space_before = false;         // encoding adds a space before every text
  bool begins_with_begin = false;        // and the begin token
};

// A serialised SentencePiece model; `name` stands for it in messages. Refuses (ErrorKind::model)
// words, which GGUF has no form for.
GgufVocabulary gguf_vocabulary(std::string_view sentencepiece, const std::string& name);

// A tokenizer.json of byte-level BPE, of BPE with SentencePiece's spaces, or of unigrams. Refuses
// (ErrorKind::model) other models, and a pre-tokenizer that GGUF has no name for.
GgufVocabulary gguf_vocabulary_of_json(std::string_view json, const std::string& name);

// Adds unused tokens up to the `num_tokens` of the model, which may be more than its tokenizer's.
// llama.cpp ends its process at a character that SentencePiece's BPE has no piece for, unless there
// are pieces of its bytes: those that are missing come last. Returns how many they are.
std::int64_t complete_vocabulary(GgufVocabulary& vocabulary, std::int64_t num_tokens);

void write_vocabulary(io::GgufWriter& file, const GgufVocabulary& vocabulary,
                      const text::SpecialTokens& special);

}  // namespace heed::models
