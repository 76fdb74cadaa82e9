// GPT-2. Its linear layers are stored with rows and columns exchanged; query, key and value are
// one.
#include "heed/models/family_fields.h"
#include "heed/models/family_tensors.h"

namespace heed::models::families {
namespace {

Config gpt2_network() {
  Config config = network_of({});
  config.encoder_layers = 0;
  config.embedding_scale = 1;
  config.norm_place = NormPlace::before;
  config.positions = Positions::learned;
  config.freezes_padding = false;
  return config;
}

// null: four times the width.
FamilyField inner_width() {
  return {[](const io::JsonFields& json, Config& config) {
            config.feed_forward_dim =
                json.integer_or("n_inner", 4 * config.model_dim, {.min = 1, .max = 1 << 24});
          },
          [](nlohmann::ordered_json& json, const Config& config) {
            json["n_inner"] = config.feed_forward_dim;
          }};
}

// Without it scores are the products themselves.
FamilyField scale_switch() {
  return {[](const io::JsonFields& json, Config& config) {
            if (!json.boolean_or("scale_attn_weights", true)) config.attention_scale = 1.0F;
          },
          [](nlohmann::ordered_json& json, const Config& config) {
            json["scale_attn_weights"] = !config.attention_scale.has_value();
          }};
}

FamilyTensors gpt2_tensors() {
  const std::string theirs = "transformer.h.{}.", ours = "decoder.{}.";
  const std::string attention = ours + "self_attention.", feed_forward = ours + "feed_forward.";
  constexpr auto transposed = TensorLayout::transposed;
  return table({{{"transformer.wte.weight", {"embedding.weight"}},
                 {"transformer.wpe.weight", {"decoder.positions.weight"}}},
                linear(theirs + "attn.c_attn",
                       {attention + "query", attention + "key", attention + "value"}, transposed),
                linear(theirs + "attn.c_proj", {attention + "output"}, transposed),
                linear(theirs + "mlp.c_fc", {feed_forward + "hidden"}, transposed),
                linear(theirs + "mlp.c_proj", {feed_forward + "output"}, transposed),
                norm(theirs + "ln_1", ours + "self_attention_norm"),
                norm(theirs + "ln_2", ours + "feed_forward_norm"),
                norm("transformer.ln_f", "decoder.norm"),
                {{"lm_head.weight", {"output.weight"}}}});
}

}  // namespace

std::vector<Family> gpt2() {
  return {{.model_type = "gpt2",
           .prefix = "transformer.",
           .network = gpt2_network(),
           .classes = {{"GPT2LMHeadModel", ModelKind::language}},
           .fields = {size("vocab_size", &Config::vocabulary, 50257),
                      size("n_embd", &Config::model_dim, 768),
                      size("n_layer", &Config::decoder_layers, 12),
                      size("n_head", &Config::num_heads, 12),
                      size("n_positions", &Config::max_positions, 1024), inner_width(),
                      activation("activation_function", "gelu_new"),
                      number("layer_norm_epsilon", &Config::norm_epsilon, 1e-5F),
                      probability("resid_pdrop", &Config::dropout, 0.1F),
                      probability("attn_pdrop", &Config::attention_dropout, 0.1F), scale_switch(),
                      flag("scale_attn_by_inverse_layer_idx", &Config::has_layer_scale, false),
                      only("add_cross_attention", false),
                      special_tokens({.begin = 50256, .end = 50256}), tied(true)},
           .tensors = gpt2_tensors(),
           .ignored = {"attn.bias", "attn.masked_bias"}}};
}

}  // namespace heed::models::families
