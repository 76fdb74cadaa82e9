// Gemma 1 and 2: Llama's blocks with gains that are 1 + the parameter and embeddings scaled by the
// square root of the width. Gemma 2 has norms around sub-layers, caps, and windows in every other
// layer.
#include <cmath>

#include "heed/models/family_fields.h"
#include "heed/models/family_tensors.h"

namespace heed::models::families {
namespace {

Config gemma_network() {
  Config config = network_of({});
  config.encoder_layers = 0;
  config.norm_place = NormPlace::before;
  config.norm_kind = NormKind::rms;
  config.has_norm_unit_offset = true;
  config.has_feed_forward_bias = false;
  config.has_feed_forward_gate = true;
  return config;
}

// The published Gemma 1 says hidden_act gelu and means its tanh form, as hidden_activation says in
// later files.
FamilyField gemma_activation() {
  FamilyField field = activation("hidden_activation", "gelu_pytorch_tanh");
  const auto read = field.read;
  const auto read_older = activation("hidden_act", "gelu_pytorch_tanh").read;
  field.read = [=](const io::JsonFields& json, Config& config) {
    const bool has_older = json.has("hidden_act") && !json.has("hidden_activation");
    if (!has_older) return read(json, config);
    read_older(json, config);
    if (config.activation == Activation::gelu) config.activation = Activation::gelu_tanh;
  };
  const auto write = field.write;
  field.write = [=](nlohmann::ordered_json& json, const Config& config) {
    write(json, config);
    const auto name = json["hidden_activation"];
    json["hidden_act"] = name;
  };
  return field;
}

// Scores are divided by the square root of this number.
FamilyField query_scalar() {
  return {[](const io::JsonFields& json, Config& config) {
            const double scalar =
                json.number_or("query_pre_attn_scalar", 256, {.min = 1e-9, .max = 1e9});
            config.attention_scale = static_cast<float>(1 / std::sqrt(scalar));
          },
          [](nlohmann::ordered_json& json, const Config& config) {
            const double scale = config.attention_scale.value_or(1);
            const double scalar = 1 / (scale * scale);
            // A whole number, but for the rounding of the scale.
            const bool is_whole = std::abs(scalar - std::round(scalar)) < 1e-5 * scalar;
            json["query_pre_attn_scalar"] = is_whole ? std::round(scalar) : scalar;
          }};
}

bool in_even_layers(const io::JsonFields&, Index layer) { return layer % 2 == 0; }

FamilyFields gemma_fields(const FamilyFields& sizes, const FamilyFields& own) {
  const FamilyFields common{size("vocab_size", &Config::vocabulary, 256000),
                            size_or_null("head_dim", &Config::head_dim, 256),
                            size("max_position_embeddings", &Config::max_positions, 8192),
                            number("rms_norm_eps", &Config::norm_epsilon, 1e-6F),
                            gemma_activation(),
                            attention_bias("attention_bias", false, AttentionBias::all),
                            probability("attention_dropout", &Config::attention_dropout, 0),
                            special_tokens({.pad = 0, .begin = 2, .end = 1}),
                            tied(true),
                            rotary(),
                            only("use_bidirectional_attention", false)};
  return join(join(sizes, common), own);
}

FamilyFields gemma_sizes(Index width, Index feed_forward, Index layers, Index heads,
                         Index key_value_heads) {
  return {size("hidden_size", &Config::model_dim, width),
          size("intermediate_size", &Config::feed_forward_dim, feed_forward),
          size("num_hidden_layers", &Config::decoder_layers, layers),
          size("num_attention_heads", &Config::num_heads, heads),
          size_or_null("num_key_value_heads", &Config::num_key_value_heads, key_value_heads)};
}

FamilyTensors gemma_tensors(const FamilyTensors& norms) {
  const std::string theirs = "model.layers.{}.", ours = "decoder.{}.";
  return table({{{"model.embed_tokens.weight", {"embedding.weight"}}},
                attention(theirs + "self_attn.", ours + "self_attention",
                          {"q_proj", "k_proj", "v_proj", "o_proj"}),
                linear(theirs + "mlp.gate_proj", ours + "feed_forward.gate"),
                linear(theirs + "mlp.up_proj", ours + "feed_forward.hidden"),
                linear(theirs + "mlp.down_proj", ours + "feed_forward.output"),
                norm(theirs + "input_layernorm", ours + "self_attention_norm"),
                norms,
                norm("model.norm", "decoder.norm"),
                {{"lm_head.weight", {"output.weight"}}}});
}

Family gemma1() {
  return {.model_type = "gemma",
          .prefix = "model.",
          .network = gemma_network(),
          .classes = {{"GemmaForCausalLM", ModelKind::language}},
          .fields = gemma_fields(gemma_sizes(3072, 24576, 28, 16, 16), {}),
          .tensors = gemma_tensors(
              norm("model.layers.{}.post_attention_layernorm", "decoder.{}.feed_forward_norm")),
          .ignored = {"rotary_emb.inv_freq"}};
}

Family gemma2() {
  const std::string theirs = "model.layers.{}.", ours = "decoder.{}.";
  Family family{
      .model_type = "gemma2",
      .prefix = "model.",
      .network = gemma_network(),
      .classes = {{"Gemma2ForCausalLM", ModelKind::language}},
      .fields =
          gemma_fields(gemma_sizes(2304, 9216, 26, 8, 4),
                       {query_scalar(), windows(4096, in_even_layers),
                        number_or_null("attn_logit_softcapping", &Config::attention_softcap, 50),
                        number_or_null("final_logit_softcapping", &Config::logit_softcap, 30)}),
      .tensors = gemma_tensors(
          table({norm(theirs + "post_attention_layernorm", ours + "self_attention_output_norm"),
                 norm(theirs + "pre_feedforward_layernorm", ours + "feed_forward_norm"),
                 norm(theirs + "post_feedforward_layernorm", ours + "feed_forward_output_norm")})),
      .ignored = {"rotary_emb.inv_freq"}};
  family.network.norm_place = NormPlace::around;
  return family;
}

}  // namespace

std::vector<Family> gemma() { return {gemma1(), gemma2()}; }

}  // namespace heed::models::families
