// MPNet: BERT with a bias by relative position, and without token types.
#include "heed/models/family_fields.h"
#include "heed/models/family_tensors.h"

namespace heed::models::families {
namespace {

Config mpnet_network() {
  Config config = network_of({});
  config.decoder_layers = 0;
  config.embedding_scale = 1;
  config.positions = Positions::learned;
  config.has_embedding_norm = true;
  config.relative_buckets = 32;  // whatever relative_attention_num_buckets says
  config.relative_max_distance = 128;
  return config;
}

void masked_head(Config& config) {
  config.has_output_transform = true;
  config.has_output_bias = true;
  config.output_activation = Activation::gelu;
}

void tanh_head(Config& config) {
  config.pooling = Pooling::first;
  config.head_layer = HeadLayer::tanh;
}

FamilyTensors mpnet_tensors() {
  const std::string theirs = "mpnet.encoder.layer.{}.", ours = "encoder.{}.";
  const std::string embeddings = "mpnet.embeddings.";
  return table(
      {{{embeddings + "word_embeddings.weight", {"embedding.weight"}},
        {embeddings + "position_embeddings.weight", {"encoder.positions.weight"}},
        {"mpnet.encoder.relative_attention_bias.weight", {"encoder.relative_positions.weight"}}},
       norm(embeddings + "LayerNorm", "encoder.embedding_norm"),
       attention(theirs + "attention.attn.", ours + "self_attention", {"q", "k", "v", "o"}),
       norm(theirs + "attention.LayerNorm", ours + "self_attention_norm"),
       linear(theirs + "intermediate.dense", ours + "feed_forward.hidden"),
       linear(theirs + "output.dense", ours + "feed_forward.output"),
       norm(theirs + "output.LayerNorm", ours + "feed_forward_norm")});
}

}  // namespace

std::vector<Family> mpnet() {
  const FamilyTensors masked =
      table({linear("lm_head.dense", "output.transform"),
             norm("lm_head.layer_norm", "output.norm"),
             {{"lm_head.decoder.weight", {"output.weight"}},
              {"lm_head.bias", {"output.bias"}, {}, {"lm_head.decoder.bias"}}}});
  const FamilyTensors two_layers =
      table({linear("classifier.dense", "head_layer"), linear("classifier.out_proj", "head")});
  return {
      {.model_type = "mpnet",
       .prefix = "mpnet.",
       .network = mpnet_network(),
       .classes =
           {{"MPNetForMaskedLM", ModelKind::masked, masked_head, masked},
            {"MPNetForSequenceClassification", ModelKind::classifier, tanh_head, two_layers},
            {"MPNetForTokenClassification", ModelKind::tagger, {}, linear("classifier", "head")},
            {"MPNetModel", ModelKind::encoder}},
       .fields = {size("vocab_size", &Config::vocabulary, 30527),
                  size("hidden_size", &Config::model_dim, 768),
                  size("num_hidden_layers", &Config::encoder_layers, 12),
                  size("num_attention_heads", &Config::num_heads, 12),
                  size("intermediate_size", &Config::feed_forward_dim, 3072),
                  activation("hidden_act", "gelu"),
                  number("layer_norm_eps", &Config::norm_epsilon, 1e-12F),
                  probability("hidden_dropout_prob", &Config::dropout, 0.1F),
                  probability("attention_probs_dropout_prob", &Config::attention_dropout, 0.1F),
                  special_tokens({.pad = 1, .begin = 0, .end = 2}), positions_after_pad(512),
                  labels(), tied(true)},
       .tensors = mpnet_tensors(),
       .ignored = {"position_ids", "pooler"}}};
}

}  // namespace heed::models::families
