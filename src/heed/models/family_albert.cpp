// ALBERT: BERT whose layers are all the same one, with embeddings of another width than the model.
#include "heed/models/family_fields.h"
#include "heed/models/family_tensors.h"

namespace heed::models::families {
namespace {

Config albert_network() {
  Config config = network_of({});
  config.decoder_layers = 0;
  config.embedding_scale = 1;
  config.positions = Positions::learned;
  config.has_embedding_norm = true;
  config.has_shared_layers = true;
  return config;
}

void masked_head(Config& config) {
  config.has_output_transform = true;
  config.has_output_bias = true;
}

void tanh_head(Config& config) {
  config.pooling = Pooling::first;
  config.head_layer = HeadLayer::tanh;
}

FamilyTensors albert_tensors() {
  const std::string theirs = "albert.encoder.albert_layer_groups.0.albert_layers.0.";
  const std::string ours = "encoder.0.", embeddings = "albert.embeddings.";
  return table({{{embeddings + "word_embeddings.weight", {"embedding.weight"}},
                 {embeddings + "position_embeddings.weight", {"encoder.positions.weight"}},
                 {embeddings + "token_type_embeddings.weight", {"token_type_embedding.weight"}}},
                norm(embeddings + "LayerNorm", "encoder.embedding_norm"),
                linear("albert.encoder.embedding_hidden_mapping_in", "embedding_projection"),
                attention(theirs + "attention.", ours + "self_attention",
                          {"query", "key", "value", "dense"}),
                norm(theirs + "attention.LayerNorm", ours + "self_attention_norm"),
                linear(theirs + "ffn", ours + "feed_forward.hidden"),
                linear(theirs + "ffn_output", ours + "feed_forward.output"),
                norm(theirs + "full_layer_layer_norm", ours + "feed_forward_norm")});
}

}  // namespace

std::vector<Family> albert() {
  const FamilyTensors masked =
      table({linear("predictions.dense", "output.transform"),
             norm("predictions.LayerNorm", "output.norm"),
             {{"predictions.decoder.weight", {"output.weight"}},
              {"predictions.bias", {"output.bias"}, {}, {"predictions.decoder.bias"}}}});
  const FamilyTensors classifier = linear("classifier", "head");
  return {{.model_type = "albert",
           .prefix = "albert.",
           .network = albert_network(),
           .classes = {{"AlbertForMaskedLM", ModelKind::masked, masked_head, masked},
                       {"AlbertForPreTraining", ModelKind::masked, masked_head, masked},
                       {"AlbertForSequenceClassification", ModelKind::classifier, tanh_head,
                        table({linear("albert.pooler", "head_layer"), classifier})},
                       {"AlbertForTokenClassification", ModelKind::tagger, {}, classifier},
                       {"AlbertModel", ModelKind::encoder}},
           .fields = {size("vocab_size", &Config::vocabulary, 30000),
                      size("embedding_size", &Config::embedding_dim, 128),
                      size("hidden_size", &Config::model_dim, 4096),
                      size("num_hidden_layers", &Config::encoder_layers, 12),
                      size("num_attention_heads", &Config::num_heads, 64),
                      size("intermediate_size", &Config::feed_forward_dim, 16384),
                      size("max_position_embeddings", &Config::max_positions, 512),
                      size("type_vocab_size", &Config::token_types, 2),
                      activation("hidden_act", "gelu_new"),
                      number("layer_norm_eps", &Config::norm_epsilon, 1e-12F),
                      probability("hidden_dropout_prob", &Config::dropout, 0),
                      probability("attention_probs_dropout_prob", &Config::attention_dropout, 0),
                      only("num_hidden_groups", 1), only("inner_group_num", 1),
                      only("position_embedding_type", "absolute"),
                      special_tokens({.pad = 0, .begin = 2, .end = 3}), labels(), tied(true)},
           .tensors = albert_tensors(),
           .ignored = {"position_ids", "albert.pooler", "pooler", "sop_classifier"}}};
}

}  // namespace heed::models::families
