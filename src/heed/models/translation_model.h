// The encoder-decoder Transformer: text in one language to text in another, or any text to text.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "heed/models/packed_ids.h"
#include "heed/models/transformer_config.h"
#include "heed/nn/decoder.h"
#include "heed/nn/embedding.h"
#include "heed/nn/encoder.h"
#include "heed/nn/forward_context.h"
#include "heed/nn/module.h"
#include "heed/ops/argmax_projection.h"

namespace heed::models {

// One training batch. `source` and `target_output` end with the end token, `target_input` begins
// with it.
struct TranslationBatch {
  PackedIds source;
  PackedIds target_input;
  std::vector<int> target_output;
  // From rows of the target input, which predict a token, to the rows of the source that it
  // translates; may be empty.
  std::vector<ops::AttentionLink> links = {};
  Index num_target_tokens() const { return static_cast<Index>(target_output.size()); }
};

struct TranslationLoss {
  Tensor loss;                         // [], the sum over target tokens, label-smoothed
  double negative_log_likelihood = 0;  // the sum of -log p, without smoothing
};

class TranslationModel {
 public:
  TranslationModel(const TransformerConfig& config, std::uint64_t seed);  // random weights
  // Weights without values, for whoever fills them all.
  static TranslationModel unset(const TransformerConfig& config);

  // For decoding: shares the values, which must not change while it lives, and keeps the weights a
  // second time in the order that products want. The same bits, sooner; it cannot be trained.
  TranslationModel packed() const;
  bool is_packed() const { return packed_output().is_defined(); }
  // For decoding in less memory: with its own weights, packed, in the nearest numbers of a format
  // other than f32. Norms, biases and positions stay floats. It cannot be trained.
  TranslationModel quantize(WeightFormat format) const;

  const TransformerConfig& config() const { return config_; }
  void visit_parameters(nn::ParameterVisitor& visitor);

  TranslationLoss loss(const TranslationBatch& batch, nn::ForwardContext& context) const;

  Packed encode(const PackedIds& source, nn::ForwardContext& context) const;  // M ids -> [M, D]
  // The decoder's output before the projection, [N, D], for whole target sequences.
  Tensor decode(const PackedIds& target_input, const Packed& memory,
                nn::ForwardContext& context) const;
  Tensor logits(const Tensor& decoded) const;       // [N, D] -> [N, V]
  ops::ArgmaxProjection argmax_projection() const;  // of the largest logit, for the weights of now

  // Decoding one token at a time with a cache; see nn/decoder.h for the state.
  nn::DecoderState start(const Packed& memory, std::span<const Index> rows_per_sequence) const;
  // ids: one per live row of the state -> the decoder's output [rows, D]. Same bits as decode.
  Tensor advance(std::span<const int> ids, nn::DecoderState& state,
                 nn::ForwardContext& context) const;
  // The same with the projection -> logits [rows, V].
  Tensor step(std::span<const int> ids, nn::DecoderState& state, nn::ForwardContext& context) const;

 private:
  TranslationModel(const TransformerConfig& config, Rng rng);

  Tensor embed(const nn::Embedding& table, std::span<const int> ids) const;  // N ids -> [N, D]
  const nn::Embedding& source_embedding() const;
  const Tensor& output_weight() const;  // [V, D]; undefined in a narrowed model
  const ops::PackedMatrix& packed_output() const;

  TransformerConfig config_;
  nn::Embedding embedding_;                        // of the target; tied, of more
  std::optional<nn::Embedding> source_embedding_;  // unless tied
  std::optional<nn::Linear> output_;               // unless tied
  nn::Encoder encoder_;
  nn::Decoder decoder_;
};

}  // namespace heed::models
