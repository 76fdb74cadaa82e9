// The decoder-only Transformer: the next token of a text from those before it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "heed/models/packed_ids.h"
#include "heed/models/transformer_config.h"
#include "heed/nn/embedding.h"
#include "heed/nn/encoder.h"
#include "heed/nn/forward_context.h"
#include "heed/nn/linear.h"
#include "heed/nn/module.h"

namespace heed::models {

// Pieces of text, and after each of their tokens the one that follows it.
struct LanguageBatch {
  PackedIds input;
  std::vector<int> next;
};

struct LanguageLoss {
  Tensor loss;                         // [], the sum over all tokens, label-smoothed
  double negative_log_likelihood = 0;  // the sum of -log p, without smoothing
};

class LanguageModel {
 public:
  LanguageModel(const TransformerConfig& config, std::uint64_t seed);  // random weights
  // Weights without values, for whoever fills them all.
  static LanguageModel unset(const TransformerConfig& config);

  // For decoding, as TranslationModel::packed and narrowed.
  LanguageModel packed() const;
  bool is_packed() const { return packed_output().is_defined(); }
  LanguageModel quantize(WeightFormat format) const;

  const TransformerConfig& config() const { return config_; }
  void visit_parameters(nn::ParameterVisitor& visitor);

  LanguageLoss loss(const LanguageBatch& batch, nn::ForwardContext& context) const;

  // The stack's output before the projection, [N, D], for whole sequences.
  Tensor hidden(const PackedIds& input, nn::ForwardContext& context) const;
  Tensor logits(const Tensor& hidden) const;  // [N, D] -> [N, V]

  // Some tokens at a time with a cache: the same bits as `hidden` of all of them at once.
  nn::StackCache start(Index num_rows) const { return stack_.start(num_rows); }
  Tensor advance(const PackedIds& input, nn::StackCache& cache, nn::ForwardContext& context) const;

 private:
  LanguageModel(const TransformerConfig& config, Rng rng);

  Tensor embed(std::span<const int> ids) const;  // N ids -> [N, D]
  const Tensor& output_weight() const;           // [V, D]; undefined in a narrowed model
  const ops::PackedMatrix& packed_output() const;

  TransformerConfig config_;
  nn::Embedding embedding_;
  std::optional<nn::Linear> output_;  // unless tied
  nn::Encoder stack_;                 // with a causal mask it is a decoder
};

}  // namespace heed::models
