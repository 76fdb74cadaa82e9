// ViT: an image's class from the vector of a class token.
#include "heed/models/family_fields.h"
#include "heed/models/family_tensors.h"

namespace heed::models::families {
namespace {

Config vit_network() {
  Config config = network_of({});
  config.decoder_layers = 0;
  config.norm_place = NormPlace::before;
  config.positions = Positions::learned;
  config.pooling = Pooling::first;
  config.has_class_token = true;
  return config;
}

// Images are squares.
FamilyField image_size() {
  return {[](const io::JsonFields& json, Config& config) {
            config.image_height = json.integer_or("image_size", 224, {.min = 1, .max = 1 << 13});
            config.image_width = config.image_height;
          },
          [](nlohmann::ordered_json& json, const Config& config) {
            json["image_size"] = config.image_height;
          }};
}

FamilyTensors vit_tensors() {
  const std::string theirs = "vit.encoder.layer.{}.", ours = "encoder.{}.";
  const std::string embeddings = "vit.embeddings.";
  const std::string patches = embeddings + "patch_embeddings.projection.";
  return table({{{embeddings + "cls_token", {"class_token"}, TensorLayout::one_in_front},
                 {embeddings + "position_embeddings",
                  {"encoder.positions.weight"},
                  TensorLayout::one_in_front},
                 {patches + "weight", {"embedding.projection.weight"}, TensorLayout::patches},
                 {patches + "bias", {"embedding.projection.bias"}}},
                attention(theirs + "attention.", ours + "self_attention",
                          {"attention.query", "attention.key", "attention.value", "output.dense"}),
                norm(theirs + "layernorm_before", ours + "self_attention_norm"),
                linear(theirs + "intermediate.dense", ours + "feed_forward.hidden"),
                linear(theirs + "output.dense", ours + "feed_forward.output"),
                norm(theirs + "layernorm_after", ours + "feed_forward_norm"),
                norm("vit.layernorm", "encoder.norm"),
                linear("classifier", "head")});
}

}  // namespace

std::vector<Family> vit() {
  return {{.model_type = "vit",
           .prefix = "vit.",
           .network = vit_network(),
           .classes = {{"ViTForImageClassification", ModelKind::image_classifier}},
           .fields = {size("hidden_size", &Config::model_dim, 768),
                      size("num_hidden_layers", &Config::encoder_layers, 12),
                      size("num_attention_heads", &Config::num_heads, 12),
                      size("intermediate_size", &Config::feed_forward_dim, 3072),
                      activation("hidden_act", "gelu"),
                      number("layer_norm_eps", &Config::norm_epsilon, 1e-12F),
                      probability("hidden_dropout_prob", &Config::dropout, 0),
                      probability("attention_probs_dropout_prob", &Config::attention_dropout, 0),
                      image_size(), size("patch_size", &Config::patch_side, 16),
                      size("num_channels", &Config::image_channels, 3),
                      attention_bias("qkv_bias", true, AttentionBias::all, AttentionBias::output),
                      labels()},
           .tensors = vit_tensors(),
           .renames = {{"vit.layers.", "vit.encoder.layer."},
                       {".attention.q_proj.", ".attention.attention.query."},
                       {".attention.k_proj.", ".attention.attention.key."},
                       {".attention.v_proj.", ".attention.attention.value."},
                       {".attention.o_proj.", ".attention.output.dense."},
                       {".mlp.fc1.", ".intermediate.dense."},
                       {".mlp.fc2.", ".output.dense."}},
           .ignored = {"pooler"}}};
}

}  // namespace heed::models::families
