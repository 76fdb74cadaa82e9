// DistilBERT: BERT without token types, under names of its own.
#include "heed/models/family_fields.h"
#include "heed/models/family_tensors.h"

namespace heed::models::families {
namespace {

Config distilbert_network() {
  Config config = network_of({});
  config.decoder_layers = 0;
  config.embedding_scale = 1;
  config.positions = Positions::learned;  // sinusoidal ones are in the file too
  config.has_embedding_norm = true;
  config.norm_epsilon = 1e-12F;
  return config;
}

void masked_head(Config& config) {
  config.has_output_transform = true;
  config.has_output_bias = true;
}

void relu_head(Config& config) {
  config.pooling = Pooling::first;
  config.head_layer = HeadLayer::relu;
}

FamilyTensors distilbert_tensors() {
  const std::string theirs = "distilbert.transformer.layer.{}.", ours = "encoder.{}.";
  const std::string embeddings = "distilbert.embeddings.";
  return table({{{embeddings + "word_embeddings.weight", {"embedding.weight"}},
                 {embeddings + "position_embeddings.weight", {"encoder.positions.weight"}}},
                norm(embeddings + "LayerNorm", "encoder.embedding_norm"),
                attention(theirs + "attention.", ours + "self_attention",
                          {"q_lin", "k_lin", "v_lin", "out_lin"}),
                norm(theirs + "sa_layer_norm", ours + "self_attention_norm"),
                linear(theirs + "ffn.lin1", ours + "feed_forward.hidden"),
                linear(theirs + "ffn.lin2", ours + "feed_forward.output"),
                norm(theirs + "output_layer_norm", ours + "feed_forward_norm")});
}

}  // namespace

std::vector<Family> distilbert() {
  const FamilyTensors masked =
      table({linear("vocab_transform", "output.transform"), norm("vocab_layer_norm", "output.norm"),
             linear("vocab_projector", "output")});
  const FamilyTensors classifier = linear("classifier", "head");
  return {
      {.model_type = "distilbert",
       .prefix = "distilbert.",
       .network = distilbert_network(),
       .classes = {{"DistilBertForMaskedLM", ModelKind::masked, masked_head, masked},
                   {"DistilBertForSequenceClassification", ModelKind::classifier, relu_head,
                    table({linear("pre_classifier", "head_layer"), classifier})},
                   {"DistilBertForTokenClassification", ModelKind::tagger, {}, classifier},
                   {"DistilBertModel", ModelKind::encoder}},
       .fields = {size("vocab_size", &Config::vocabulary, 30522),
                  size("dim", &Config::model_dim, 768),
                  size("n_layers", &Config::encoder_layers, 6),
                  size("n_heads", &Config::num_heads, 12),
                  size("hidden_dim", &Config::feed_forward_dim, 3072),
                  size("max_position_embeddings", &Config::max_positions, 512),
                  activation("activation", "gelu"), probability("dropout", &Config::dropout, 0.1F),
                  probability("attention_dropout", &Config::attention_dropout, 0.1F),
                  special_tokens({.pad = 0}), labels(), tied(true)},
       .tensors = distilbert_tensors(),
       .ignored = {"position_ids"}}};
}

}  // namespace heed::models::families
