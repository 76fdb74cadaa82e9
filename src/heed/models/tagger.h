// The encoder-only Transformer that tags the words of lines: parts of speech, named entities.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/models/class_logits.h"
#include "heed/models/model.h"
#include "heed/models/text_encoder.h"

namespace heed::models {

// Lines, each with its end token, and the tags of their words. The tag of a word is predicted from
// its first token; its other tokens predict nothing.
struct TaggerBatch {
  PackedIds input;
  std::vector<Index> places;  // the row of the first token of each word
  std::vector<int> tags;      // the number of each word's tag
  Index num_words() const { return std::ssize(tags); }
};

class Tagger : public Model {
 public:
  static constexpr ModelKind kind = ModelKind::tagger;

  // The labels of the configuration are the tags, in that order.
  Tagger(const TransformerConfig& config, std::uint64_t seed);  // random weights
  Tagger(const TransformerConfig& config, const nn::Initializer& initializer);

  void visit_parameters(nn::ParameterVisitor& visitor);

  // Every word counts by its tag's weight; once without tag weights.
  Loss loss(const TaggerBatch& batch, nn::ForwardContext& context,
            std::span<const float> tag_weights = {}) const;

  Packed encode(const PackedIds& input, nn::ForwardContext& context) const;  // N ids -> [N, D]
  // Of the words whose first tokens are these rows of the input, [words, tags].
  Tensor logits(const PackedIds& input, std::span<const Index> places,
                nn::ForwardContext& context) const;

 private:
  TextEncoder encoder_;
  ClassLogits head_;
};

}  // namespace heed::models
