#include "heed/models/gguf_architecture.h"

#include "heed/base/error.h"

namespace heed::models {
namespace {

template <typename... Parts>
void require(bool ok, std::string_view setting, const Parts&... parts) {
  check_as(ErrorKind::model, ok, setting, ": GGUF has no architecture with ", parts...);
}

Index head_dim(const TransformerConfig& config) {
  return config.head_dim > 0 ? config.head_dim : config.model_dim / config.num_heads;
}

bool has_gate(const TransformerConfig& config) {
  return config.has_feed_forward_gate || config.activation == Activation::swiglu;
}

bool is_gelu(Activation activation) {
  return activation == Activation::gelu || activation == Activation::gelu_tanh;
}

void check_common(const TransformerConfig& config) {
  require(config.kind == ModelKind::language, "model_type", name_of(config.kind));
  require(config.similarity != ops::Similarity::cosine, "similarity", name_of(config.similarity));
  require(config.norm_place == NormPlace::before, "norm_place", "norms ",
          name_of(config.norm_place), " sub-layers");
  require(config.has_final_norm.value_or(true), "final_norm", "no norm at the end");
  require(!config.has_embedding_norm, "embedding_norm", "a norm of embeddings");
  require(config.embedding_dim == 0 || config.embedding_dim == config.model_dim, "embedding_size",
          "projected embeddings");
  require(config.token_types == 0, "type_vocab_size", "token types for a language model");
  require(config.attention_softcap == 0, "attention_softcap", "these blocks and capped scores");
  require(config.logit_softcap == 0, "logit_softcap", "these blocks and capped logits");
  require(!config.has_output_bias, "output_bias", "these blocks and a bias of logits");
  require(config.windows.empty(), "windows", "these blocks and windows");
  require(config.relative_buckets == 0, "relative_buckets", "a learned bias by distance");
  require(!config.has_shared_layers, "shared_layers", "shared layers");
}

void check_rotary_scaling(const TransformerConfig& config, bool is_llama) {
  const ops::RotaryFrequencies& rotary = config.rotary;
  require(rotary.scaling != ops::RotaryScaling::longrope, "rotary_scaling", "longrope");
  require(rotary.scaling != ops::RotaryScaling::llama3 || is_llama, "rotary_scaling",
          "llama3 for these blocks");
  const ops::RotaryFrequencies usual;
  require(rotary.scaling != ops::RotaryScaling::yarn ||
              (rotary.beta_fast == usual.beta_fast && rotary.beta_slow == usual.beta_slow &&
               rotary.has_whole_ramp && !rotary.attention_factor),
          "rotary_scaling", "yarn with another ramp or factor than its own");
}

// Blocks of Llama, Qwen 2 and Qwen 3.
GgufArchitecture rms_architecture(const TransformerConfig& config) {
  require(config.positions == Positions::rotary, "positions", name_of(config.positions),
          " positions and RMS norm");
  require(has_gate(config) &&
              (config.activation == Activation::swiglu || config.activation == Activation::silu),
          "activation_function", name_of(config.activation), has_gate(config) ? "" : " without a",
          " gate and RMS norm");
  require(config.block_form == BlockForm::sequential, "block_form",
          "parallel sub-layers and RMS norm");
  require(config.rotary.dim == 0 || config.rotary.dim == head_dim(config), "rotary_dim",
          "RMS norm and heads that are rotated in part");
  const bool has_attention_bias = config.attention_bias != AttentionBias::none;
  if (config.has_query_key_norm) {
    require(!has_attention_bias && !config.has_feed_forward_bias, "query_key_norm",
            "norms of queries and keys, and biases");
    check_rotary_scaling(config, false);
    return {.name = "qwen3"};
  }
  if (config.attention_bias == AttentionBias::query_key_value && !config.has_feed_forward_bias) {
    check_rotary_scaling(config, false);
    return {.name = "qwen2"};
  }
  check_rotary_scaling(config, true);
  return {.name = "llama", .has_rotary_neighbours = true};
}

// Blocks of GPT-2, GPT-NeoX and MPT, which differ by their positions.
GgufArchitecture layer_norm_architecture(const TransformerConfig& config) {
  require(is_gelu(config.activation) && !has_gate(config), "activation_function",
          name_of(config.activation), has_gate(config) ? " (a gate)" : "", " and layer norm");
  require(!config.has_query_key_norm, "query_key_norm", "layer norm of queries and keys");
  require(config.head_dim == 0 || config.head_dim * config.num_heads == config.model_dim,
          "head_dim", "layer norm and heads that are not a part of the width each");
  GgufArchitecture architecture{.name = "gpt2", .has_fused_attention = true, .needs_biases = true};
  if (config.positions == Positions::rotary) {
    require(config.block_form != BlockForm::parallel_one_norm, "block_form",
            "one norm for parallel sub-layers");
    check_rotary_scaling(config, false);
    architecture.name = "gptneox";
    architecture.needs_output = true;
    return architecture;
  }
  require(config.block_form == BlockForm::sequential, "block_form", "parallel sub-layers and ",
          name_of(config.positions), " positions");
  if (config.positions == Positions::alibi) architecture.name = "mpt";
  return architecture;
}

}  // namespace

GgufArchitecture gguf_architecture(const TransformerConfig& config) {
  check_common(config);
  return config.norm_kind == NormKind::rms ? rms_architecture(config)
                                           : layer_norm_architecture(config);
}

}  // namespace heed::models
