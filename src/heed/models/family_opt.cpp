// OPT: learned positions whose table has two rows before the first, norms before or after, and
// embeddings that may have another width than the model.
#include "heed/models/family_fields.h"
#include "heed/models/family_tensors.h"

namespace heed::models::families {
namespace {

Config opt_network() {
  Config config = network_of({});
  config.encoder_layers = 0;
  config.embedding_scale = 1;
  config.positions = Positions::learned;
  config.position_offset = 2;
  config.embedding_projection = EmbeddingProjection::words;
  return config;
}

// The last norm is there if norms are before sub-layers, unless it was removed.
FamilyField norm_places() {
  return {[](const io::JsonFields& json, Config& config) {
            const bool is_before = json.boolean_or("do_layer_norm_before", true);
            config.norm_place = is_before ? NormPlace::before : NormPlace::after;
            const bool is_removed = json.boolean_or("_remove_final_layer_norm", false);
            config.has_final_norm = is_before && !is_removed;
          },
          [](nlohmann::ordered_json& json, const Config& config) {
            const bool is_before = config.norm_place == NormPlace::before;
            json["do_layer_norm_before"] = is_before;
            json["_remove_final_layer_norm"] = is_before && !config.has_final_norm.value_or(true);
          }};
}

FamilyField biases() {
  return {[](const io::JsonFields& json, Config& config) {
            const bool has_bias = json.boolean_or("enable_bias", true);
            config.attention_bias = has_bias ? AttentionBias::all : AttentionBias::none;
            config.has_feed_forward_bias = has_bias;
          },
          [](nlohmann::ordered_json& json, const Config& config) {
            json["enable_bias"] = config.has_feed_forward_bias;
          }};
}

FamilyTensors opt_tensors() {
  const std::string theirs = "model.decoder.layers.{}.", ours = "decoder.{}.";
  return table({{{"model.decoder.embed_tokens.weight", {"embedding.weight"}},
                 {"model.decoder.embed_positions.weight", {"decoder.positions.weight"}},
                 {"model.decoder.project_in.weight", {"embedding_projection.weight"}},
                 {"model.decoder.project_out.weight", {"hidden_projection.weight"}}},
                attention(theirs + "self_attn.", ours + "self_attention",
                          {"q_proj", "k_proj", "v_proj", "out_proj"}),
                norm(theirs + "self_attn_layer_norm", ours + "self_attention_norm"),
                linear(theirs + "fc1", ours + "feed_forward.hidden"),
                linear(theirs + "fc2", ours + "feed_forward.output"),
                norm(theirs + "final_layer_norm", ours + "feed_forward_norm"),
                norm("model.decoder.final_layer_norm", "decoder.norm"),
                {{"lm_head.weight", {"output.weight"}}}});
}

}  // namespace

std::vector<Family> opt() {
  return {{.model_type = "opt",
           .prefix = "model.",
           .network = opt_network(),
           .classes = {{"OPTForCausalLM", ModelKind::language}},
           .fields = {size("vocab_size", &Config::vocabulary, 50272),
                      size("hidden_size", &Config::model_dim, 768),
                      size("num_hidden_layers", &Config::decoder_layers, 12),
                      size("ffn_dim", &Config::feed_forward_dim, 3072),
                      size("max_position_embeddings", &Config::max_positions, 2048),
                      size("num_attention_heads", &Config::num_heads, 12),
                      embedding_size("word_embed_proj_dim", 0),
                      activation("activation_function", "relu"),
                      probability("dropout", &Config::dropout, 0.1F),
                      probability("attention_dropout", &Config::attention_dropout, 0),
                      norm_places(), biases(), only("layer_norm_elementwise_affine", true),
                      special_tokens({.pad = 1, .begin = 2, .end = 2}), tied(true)},
           .tensors = opt_tensors()}};
}

}  // namespace heed::models::families
