// Small networks of the forms that models of other families have.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "heed/models/transformer_config.h"

namespace heed::models {

struct FamilyNetwork {
  std::string name;
  TransformerConfig config;
};

inline TransformerConfig family_base(ModelKind kind) {
  TransformerConfig config;
  config.kind = kind;
  config.vocabulary = 11;
  config.encoder_layers = has_encoder(kind) ? 2 : 0;
  config.decoder_layers = has_decoder(kind) ? 2 : 0;
  config.model_dim = 12;
  config.feed_forward_dim = 10;
  config.num_heads = 2;
  config.max_positions = 64;
  config.dropout = 0;
  config.label_smoothing = 0.1f;
  config.embedding_scale = 1.0f;
  if (has_classes(kind)) config.labels = {"cold", "mild", "warm"};
  return config;
}

inline TransformerConfig bert_config(ModelKind kind) {
  TransformerConfig config = family_base(kind);
  config.activation = Activation::gelu;
  config.positions = Positions::learned;
  config.norm_epsilon = 1e-12f;
  config.has_embedding_norm = true;
  config.token_types = 2;
  config.prepends_begin = false;
  config.pooling = Pooling::first;
  if (has_classes(kind)) config.head_layer = HeadLayer::tanh;
  config.has_output_transform = config.has_output_bias = kind == ModelKind::masked;
  return config;
}

inline TransformerConfig albert_config(ModelKind kind) {
  TransformerConfig config = bert_config(kind);
  config.encoder_layers = 3;
  config.has_shared_layers = true;
  config.embedding_dim = 6;
  config.activation = Activation::gelu_tanh;
  return config;
}

inline TransformerConfig roberta_config(ModelKind kind) {
  TransformerConfig config = bert_config(kind);
  config.token_types = 1;
  config.position_offset = 2;
  config.tying = Tying::none;
  config.activation = Activation::relu;
  config.output_activation = Activation::gelu;
  if (has_classes(kind)) config.head_layer = HeadLayer::relu;
  return config;
}

inline TransformerConfig mpnet_config() {
  TransformerConfig config = bert_config(ModelKind::encoder);
  config.token_types = 0;
  config.position_offset = 2;
  config.relative_buckets = 8;
  config.relative_max_distance = 6;
  config.pooling = Pooling::mean;
  config.normalizes = true;
  return config;
}

inline TransformerConfig gpt2_config() {
  TransformerConfig config = family_base(ModelKind::language);
  config.norm_place = NormPlace::before;
  config.positions = Positions::learned;
  config.activation = Activation::gelu_tanh;
  config.has_layer_scale = true;
  return config;
}

inline TransformerConfig opt_config() {
  TransformerConfig config = family_base(ModelKind::language);
  config.positions = Positions::learned;
  config.position_offset = 2;
  config.embedding_dim = 8;
  config.embedding_projection = EmbeddingProjection::words;
  return config;
}

inline TransformerConfig gemma2_config() {
  TransformerConfig config = family_base(ModelKind::language);
  config.embedding_scale = std::nullopt;
  config.norm_place = NormPlace::around;
  config.norm_kind = NormKind::rms;
  config.has_norm_unit_offset = true;
  config.positions = Positions::rotary;
  config.head_dim = 8;
  config.num_key_value_heads = 1;
  config.attention_bias = AttentionBias::none;
  config.has_feed_forward_bias = false;
  config.has_feed_forward_gate = true;
  config.activation = Activation::gelu_tanh;
  config.attention_softcap = 5;
  config.logit_softcap = 3;
  config.windows = {3, 0};
  return config;
}

inline TransformerConfig phi_config() {
  TransformerConfig config = family_base(ModelKind::language);
  config.norm_place = NormPlace::before;
  config.block_form = BlockForm::parallel_one_norm;
  config.positions = Positions::rotary;
  config.rotary.dim = 4;
  config.tying = Tying::none;
  config.has_output_bias = true;
  return config;
}

inline TransformerConfig t5_config() {
  TransformerConfig config = family_base(ModelKind::translation);
  config.norm_place = NormPlace::before;
  config.norm_kind = NormKind::rms;
  config.norm_epsilon = 1e-6f;
  config.positions = Positions::none;
  config.attention_bias = AttentionBias::none;
  config.has_feed_forward_bias = false;
  config.has_feed_forward_gate = true;
  config.activation = Activation::gelu_tanh;
  config.attention_scale = 1.0f;
  config.relative_buckets = 8;
  config.relative_max_distance = 6;
  config.output_scale = 0.25f;
  config.tokens.decoder_start = 0;
  return config;
}

inline TransformerConfig marian_config() {
  TransformerConfig config = family_base(ModelKind::translation);
  config.embedding_scale = 3.5f;
  config.source_vocabulary = 13;
  config.tying = Tying::target;
  config.has_output_bias = true;
  config.activation = Activation::silu;
  return config;
}

inline TransformerConfig m2m100_config() {
  TransformerConfig config = family_base(ModelKind::translation);
  config.norm_place = NormPlace::before;
  config.sinusoid_order = ops::SinusoidOrder::whole_halves;
  config.position_offset = 2;
  config.decoder_heads = 3;
  config.decoder_feed_forward_dim = 14;
  return config;
}

inline TransformerConfig mbart_config() {
  TransformerConfig config = family_base(ModelKind::translation);
  config.norm_place = NormPlace::before;
  config.positions = Positions::learned;
  config.position_offset = 2;
  config.has_embedding_norm = true;
  config.has_output_bias = true;
  return config;
}

inline TransformerConfig vit_config() {
  TransformerConfig config = family_base(ModelKind::image_classifier);
  config.vocabulary = 0;
  config.norm_place = NormPlace::before;
  config.norm_epsilon = 1e-12f;
  config.positions = Positions::learned;
  config.image_height = config.image_width = 8;
  config.patch_side = 4;
  config.has_class_token = true;
  config.pooling = Pooling::first;
  return config;
}

inline std::vector<FamilyNetwork> family_networks() {
  return {{"bert", bert_config(ModelKind::masked)},
          {"bert classifier", bert_config(ModelKind::classifier)},
          {"bert tagger", bert_config(ModelKind::tagger)},
          {"bert encoder", bert_config(ModelKind::encoder)},
          {"albert", albert_config(ModelKind::masked)},
          {"albert classifier", albert_config(ModelKind::classifier)},
          {"roberta", roberta_config(ModelKind::masked)},
          {"roberta classifier", roberta_config(ModelKind::classifier)},
          {"mpnet", mpnet_config()},
          {"gpt2", gpt2_config()},
          {"opt", opt_config()},
          {"gemma2", gemma2_config()},
          {"phi", phi_config()},
          {"t5", t5_config()},
          {"marian", marian_config()},
          {"m2m100", m2m100_config()},
          {"mbart", mbart_config()},
          {"vit", vit_config()}};
}

}  // namespace heed::models
