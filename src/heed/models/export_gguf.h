// A language model as a GGUF file, which llama.cpp and its relatives load.
//
// GGUF names architectures, not settings. A model is exported as one of those that computes what
// it computes; what none does is refused. What differs in form only is folded into the weights:
// scales of embeddings and scores, the pairs of RoPE, and sinusoids, which become learned
// positions.
#pragma once

#include <string>
#include <vector>

#include "heed/base/weight_format.h"
#include "heed/models/gguf_vocabulary.h"

namespace heed::models {

class LanguageModel;

struct GgufOptions {
  std::string name = "model";                // general.name
  WeightFormat weights = WeightFormat::f32;  // f32, f16, or int8, which is Q8_0
  std::string chat_template = {};            // or none
};

// Replaces `path` in one step. Returns notes for the user: what the other program computes a little
// differently. Refuses (ErrorKind::model) a model that GGUF has no architecture for, by the name of
// the setting.
std::vector<std::string> export_gguf(const LanguageModel& model, const GgufVocabulary& vocabulary,
                                     const std::string& path, const GgufOptions& options = {});

}  // namespace heed::models
