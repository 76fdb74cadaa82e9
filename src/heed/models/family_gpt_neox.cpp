// GPT-NeoX (Pythia): partial RoPE, sub-layers mostly parallel, query, key and value interleaved by
// head.
#include "heed/models/family_fields.h"
#include "heed/models/family_tensors.h"

namespace heed::models::families {
namespace {

Config gpt_neox_network() {
  Config config = network_of({});
  config.encoder_layers = 0;
  config.embedding_scale = 1;
  config.norm_place = NormPlace::before;
  config.freezes_padding = false;
  return config;
}

FamilyField parallel_residual() {
  return {[](const io::JsonFields& json, Config& config) {
            config.block_form = json.boolean_or("use_parallel_residual", true)
                                    ? BlockForm::parallel
                                    : BlockForm::sequential;
          },
          [](nlohmann::ordered_json& json, const Config& config) {
            json["use_parallel_residual"] = config.block_form == BlockForm::parallel;
          }};
}

FamilyTensors gpt_neox_tensors() {
  const std::string theirs = "gpt_neox.layers.{}.", ours = "decoder.{}.";
  const std::string attention = ours + "self_attention.";
  return table(
      {{{"gpt_neox.embed_in.weight", {"embedding.weight"}}},
       linear(theirs + "attention.query_key_value",
              {attention + "query", attention + "key", attention + "value"}, TensorLayout::heads),
       linear(theirs + "attention.dense", attention + "output"),
       linear(theirs + "mlp.dense_h_to_4h", ours + "feed_forward.hidden"),
       linear(theirs + "mlp.dense_4h_to_h", ours + "feed_forward.output"),
       norm(theirs + "input_layernorm", ours + "self_attention_norm"),
       norm(theirs + "post_attention_layernorm", ours + "feed_forward_norm"),
       norm("gpt_neox.final_layer_norm", "decoder.norm"),
       {{"embed_out.weight", {"output.weight"}}}});
}

}  // namespace

std::vector<Family> gpt_neox() {
  return {
      {.model_type = "gpt_neox",
       .prefix = "gpt_neox.",
       .network = gpt_neox_network(),
       .classes = {{"GPTNeoXForCausalLM", ModelKind::language}},
       .fields = {size("vocab_size", &Config::vocabulary, 50432),
                  size("hidden_size", &Config::model_dim, 6144),
                  size("num_hidden_layers", &Config::decoder_layers, 44),
                  size("num_attention_heads", &Config::num_heads, 64),
                  size("intermediate_size", &Config::feed_forward_dim, 24576),
                  size("max_position_embeddings", &Config::max_positions, 2048),
                  activation("hidden_act", "gelu"),
                  number("layer_norm_eps", &Config::norm_epsilon, 1e-5F),
                  probability("hidden_dropout", &Config::dropout, 0),
                  probability("attention_dropout", &Config::attention_dropout, 0),
                  attention_bias("attention_bias", true, AttentionBias::all), parallel_residual(),
                  rotary({.base = "rotary_emb_base", .part = "rotary_pct", .missing_part = 0.25}),
                  special_tokens({.begin = 0, .end = 2}), tied(false)},
       .tensors = gpt_neox_tensors(),
       .renames = {{"lm_head.", "embed_out."}},
       .ignored = {"rotary_emb.inv_freq", "attention.bias", "attention.masked_bias"}}};
}

}  // namespace heed::models::families
