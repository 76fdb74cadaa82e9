// The encoder-decoder Transformer: text in one language to text in another, or any text to text.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "heed/models/model.h"
#include "heed/models/packed_ids.h"
#include "heed/nn/embedding.h"
#include "heed/nn/forward_context.h"
#include "heed/nn/output_projection.h"
#include "heed/nn/transformer_stack.h"
#include "heed/ops/attention.h"

namespace heed::models {

// One training batch. `source` and `target_output` end with the end token, `target_input` begins
// with the configuration's decoder start, which is the same token in our own models.
struct TranslationBatch {
  PackedIds source;
  PackedIds target_input;
  std::vector<int> target_output;
  // From rows of the target input, which predict a token, to the rows of the source that it
  // translates; may be empty.
  std::vector<ops::AttentionLink> links = {};
  Index num_target_tokens() const { return std::ssize(target_output); }
};

class TranslationModel : public Model {
 public:
  static constexpr ModelKind kind = ModelKind::translation;

  TranslationModel(const TransformerConfig& config, std::uint64_t seed);  // random weights
  TranslationModel(const TransformerConfig& config, const nn::Initializer& initializer);

  void visit_parameters(nn::ParameterVisitor& visitor);
  bool is_packed() const { return output_.is_packed(embedding_.weight()); }

  // With links, the weighted loss of guided alignment is part of the loss.
  Loss loss(const TranslationBatch& batch, nn::ForwardContext& context) const;

  Packed encode(const PackedIds& source, nn::ForwardContext& context) const;  // M ids -> [M, D]
  // The decoder's output before the projection, [N, D], for whole target sequences.
  Tensor decode(const PackedIds& target_input, const Packed& memory,
                nn::ForwardContext& context) const;
  Tensor logits(const Tensor& decoded) const;  // [N, D] -> [N, V]
  // Finds the largest logit, for the weights of now: greedy search.
  ops::ArgmaxProjection argmax_projection() const;

  // Decoding one token at a time with a KV cache. Sequence s of the memory starts with
  // rows_per_sequence[s] equal rows.
  nn::StackCache start(const Packed& memory, std::span<const Index> rows_per_sequence) const;
  // ids: the next token of each row of the cache -> the decoder's output [rows, D]: the same bits
  // as decode.
  Tensor step(std::span<const int> ids, nn::StackCache& cache, nn::ForwardContext& context) const;

 private:
  Tensor embed(const nn::Embedding& table, std::span<const int> ids) const;  // N ids -> [N, D]
  Loss cross_entropy(const TranslationBatch& batch, nn::ForwardContext& context) const;

  nn::Embedding embedding_;                        // of the target; tied, of more
  std::optional<nn::Embedding> source_embedding_;  // unless tied
  nn::OutputProjection output_;
  nn::TransformerStack encoder_;
  nn::TransformerStack decoder_;
};

}  // namespace heed::models
