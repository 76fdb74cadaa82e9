// Phi 1 and 2: attention and feed-forward of one norm, side by side; partial RoPE; an output bias.
#include "heed/models/family_fields.h"
#include "heed/models/family_tensors.h"

namespace heed::models::families {
namespace {

Config phi_network() {
  Config config = network_of({});
  config.encoder_layers = 0;
  config.embedding_scale = 1;
  config.norm_place = NormPlace::before;
  config.block_form = BlockForm::parallel_one_norm;
  config.has_output_bias = true;
  return config;
}

FamilyTensors phi_tensors() {
  const std::string theirs = "model.layers.{}.", ours = "decoder.{}.";
  return table({{{"model.embed_tokens.weight", {"embedding.weight"}}},
                attention(theirs + "self_attn.", ours + "self_attention",
                          {"q_proj", "k_proj", "v_proj", "dense"}),
                norm(theirs + "self_attn.q_layernorm", ours + "self_attention.query_norm"),
                norm(theirs + "self_attn.k_layernorm", ours + "self_attention.key_norm"),
                linear(theirs + "mlp.fc1", ours + "feed_forward.hidden"),
                linear(theirs + "mlp.fc2", ours + "feed_forward.output"),
                norm(theirs + "input_layernorm", ours + "self_attention_norm"),
                norm("model.final_layernorm", "decoder.norm"),
                linear("lm_head", "output")});
}

}  // namespace

std::vector<Family> phi() {
  return {{.model_type = "phi",
           .prefix = "model.",
           .network = phi_network(),
           .classes = {{"PhiForCausalLM", ModelKind::language}},
           .fields = {size("vocab_size", &Config::vocabulary, 51200),
                      size("hidden_size", &Config::model_dim, 2048),
                      size("intermediate_size", &Config::feed_forward_dim, 8192),
                      size("num_hidden_layers", &Config::decoder_layers, 24),
                      size("num_attention_heads", &Config::num_heads, 32),
                      size_or_null("num_key_value_heads", &Config::num_key_value_heads),
                      size("max_position_embeddings", &Config::max_positions, 2048),
                      activation("hidden_act", "gelu_new"),
                      number("layer_norm_eps", &Config::norm_epsilon, 1e-5F),
                      probability("resid_pdrop", &Config::dropout, 0),
                      probability("attention_dropout", &Config::attention_dropout, 0),
                      flag("qk_layernorm", &Config::has_query_key_norm, false),
                      rotary({.missing_part = 0.5}), special_tokens({.begin = 1, .end = 2}),
                      tied(false)},
           .tensors = phi_tensors(),
           .ignored = {"rotary_emb.inv_freq"}}};
}

}  // namespace heed::models::families
