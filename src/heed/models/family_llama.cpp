// Llama, and what has its shape: Mistral, Qwen 2 and 3, Phi-3.
#include "heed/models/family_fields.h"
#include "heed/models/family_tensors.h"

namespace heed::models::families {
namespace {

Config llama_network() {
  Config config = network_of({});
  config.encoder_layers = 0;
  config.embedding_scale = 1;
  config.norm_place = NormPlace::before;
  config.norm_kind = NormKind::rms;
  config.attention_bias = AttentionBias::none;
  config.has_feed_forward_bias = false;
  config.has_feed_forward_gate = true;
  return config;
}

// The sizes that a class has where config.json does not say.
struct Sizes {
  Index vocabulary, width, feed_forward, layers, heads, positions;
};

// What all of them have, then the fields of one.
FamilyFields llama_fields(const Sizes& missing, float missing_epsilon, const FamilyFields& own) {
  const FamilyFields common{
      size("vocab_size", &Config::vocabulary, missing.vocabulary),
      size("hidden_size", &Config::model_dim, missing.width),
      size("intermediate_size", &Config::feed_forward_dim, missing.feed_forward),
      size("num_hidden_layers", &Config::decoder_layers, missing.layers),
      size("num_attention_heads", &Config::num_heads, missing.heads),
      size("max_position_embeddings", &Config::max_positions, missing.positions),
      number("rms_norm_eps", &Config::norm_epsilon, missing_epsilon),
      activation("hidden_act", "silu"),
      probability("attention_dropout", &Config::attention_dropout, 0),
      tied(false)};
  return join(common, own);
}

const AttentionNames projections{"q_proj", "k_proj", "v_proj", "o_proj"};

// Around the attention and the feed-forward, which differ.
FamilyTensors llama_tensors(const FamilyTensors& layers) {
  return table({{{"model.embed_tokens.weight", {"embedding.weight"}}},
                layers,
                norm("model.layers.{}.input_layernorm", "decoder.{}.self_attention_norm"),
                norm("model.layers.{}.post_attention_layernorm", "decoder.{}.feed_forward_norm"),
                norm("model.norm", "decoder.norm"),
                {{"lm_head.weight", {"output.weight"}}}});
}

FamilyTensors separate_projections() {
  const std::string theirs = "model.layers.{}.", ours = "decoder.{}.";
  return table({attention(theirs + "self_attn.", ours + "self_attention", projections),
                norm(theirs + "self_attn.q_norm", ours + "self_attention.query_norm"),
                norm(theirs + "self_attn.k_norm", ours + "self_attention.key_norm"),
                linear(theirs + "mlp.gate_proj", ours + "feed_forward.gate"),
                linear(theirs + "mlp.up_proj", ours + "feed_forward.hidden"),
                linear(theirs + "mlp.down_proj", ours + "feed_forward.output")});
}

FamilyTensors stacked_projections() {
  const std::string theirs = "model.layers.{}.", ours = "decoder.{}.";
  const std::string attention = ours + "self_attention.", feed_forward = ours + "feed_forward.";
  return table(
      {linear(theirs + "self_attn.qkv_proj",
              {attention + "query", attention + "key", attention + "value"}),
       linear(theirs + "self_attn.o_proj", attention + "output"),
       linear(theirs + "mlp.gate_up_proj", {feed_forward + "gate", feed_forward + "hidden"}),
       linear(theirs + "mlp.down_proj", feed_forward + "output")});
}

Family llama_shaped(std::string_view model_type, std::string_view class_name, FamilyFields fields) {
  return {.model_type = model_type,
          .prefix = "model.",
          .network = llama_network(),
          .classes = {{class_name, ModelKind::language}},
          .fields = std::move(fields),
          .tensors = llama_tensors(separate_projections()),
          .ignored = {"rotary_emb.inv_freq"}};
}

bool in_last_layers(const io::JsonFields& json, Index layer) {
  return layer >= json.integer_or("max_window_layers", 28, {.min = 0});
}

Family qwen2() {
  Family family = llama_shaped(
      "qwen2", "Qwen2ForCausalLM",
      llama_fields({151936, 4096, 22016, 32, 32, 32768}, 1e-6F,
                   {size_or_null("num_key_value_heads", &Config::num_key_value_heads, 32),
                    size_or_null("head_dim", &Config::head_dim), special_tokens(), rotary(),
                    windows(4096, in_last_layers, "use_sliding_window")}));
  family.network.attention_bias = AttentionBias::query_key_value;
  return family;
}

Family qwen3() {
  Family family = llama_shaped(
      "qwen3", "Qwen3ForCausalLM",
      llama_fields({151936, 4096, 22016, 32, 32, 32768}, 1e-6F,
                   {size_or_null("num_key_value_heads", &Config::num_key_value_heads, 32),
                    size_or_null("head_dim", &Config::head_dim, 128),
                    attention_bias("attention_bias", false, AttentionBias::all), special_tokens(),
                    rotary(), windows(4096, in_last_layers, "use_sliding_window")}));
  family.network.has_query_key_norm = true;
  return family;
}

Family mistral() {
  return llama_shaped(
      "mistral", "MistralForCausalLM",
      llama_fields({32000, 4096, 14336, 32, 32, 131072}, 1e-6F,
                   {size_or_null("num_key_value_heads", &Config::num_key_value_heads, 8),
                    size_or_null("head_dim", &Config::head_dim),
                    special_tokens({.begin = 1, .end = 2}), rotary(), windows(4096)}));
}

Family phi3() {
  Family family =
      llama_shaped("phi3", "Phi3ForCausalLM",
                   llama_fields({32064, 3072, 8192, 32, 32, 4096}, 1e-5F,
                                {size_or_null("num_key_value_heads", &Config::num_key_value_heads),
                                 probability("resid_pdrop", &Config::dropout, 0),
                                 special_tokens({.pad = 32000, .begin = 1, .end = 32000}), rotary(),
                                 windows(std::nullopt)}));
  family.tensors = llama_tensors(stacked_projections());
  return family;
}

}  // namespace

std::vector<Family> llama() {
  return {
      llama_shaped("llama", "LlamaForCausalLM",
                   llama_fields({32000, 4096, 11008, 32, 32, 2048}, 1e-6F,
                                {size_or_null("num_key_value_heads", &Config::num_key_value_heads),
                                 size_or_null("head_dim", &Config::head_dim),
                                 attention_bias("attention_bias", false, AttentionBias::all),
                                 flag("mlp_bias", &Config::has_feed_forward_bias, false),
                                 special_tokens({.begin = 1, .end = 2}), rotary()})),
      mistral(), qwen2(), qwen3(), phi3()};
}

}  // namespace heed::models::families
