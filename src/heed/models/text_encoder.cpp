#include "heed/models/text_encoder.h"

#include "heed/base/error.h"
#include "heed/ops/elementwise.h"

namespace heed::models {

TextEncoder::TextEncoder(const TransformerConfig& config, const nn::Initializer& initializer)
    : embedding_(config.vocabulary, embedding_width(config), initializer),
      encoder_("encoder", encoder_options(config), initializer),
      has_projection_(has_projected_sum(config)),
      embedding_scale_(embedding_scale(config)) {
  if (config.token_types > 0) {
    token_type_embedding_ = nn::Embedding(config.token_types, embedding_width(config), initializer);
  }
}

Tensor TextEncoder::embed(const PackedIds& input) const {
  const Tensor words = embedding_.forward(input.ids, embedding_scale_);
  check(input.types.empty() || input.types.size() == input.ids.size(),
        "text encoder: expected a type for each of ", input.ids.size(), " tokens, got ",
        input.types.size());
  if (!token_type_embedding_) return words;
  const std::vector<int> none(input.types.empty() ? input.ids.size() : 0, 0);
  return ops::add(words, token_type_embedding_->forward(input.types.empty() ? none : input.types));
}

Packed TextEncoder::forward(const PackedIds& input, nn::ForwardContext& context) const {
  return {encoder_.forward({embed(input), input.spans}, context), input.spans};
}

void TextEncoder::visit_parameters(nn::ParameterVisitor& visitor) {
  visitor.child("embedding", embedding_);
  if (token_type_embedding_) visitor.child("token_type_embedding", *token_type_embedding_);
  if (has_projection_) visitor.child("embedding_projection", encoder_.embedding_projection());
  visitor.child("encoder", encoder_);
}

}  // namespace heed::models
