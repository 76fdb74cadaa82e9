// BERT, RoBERTa (also XLM-RoBERTa and CamemBERT) and ELECTRA.
#include <array>

#include "heed/models/family_fields.h"
#include "heed/models/family_tensors.h"

namespace heed::models::families {
namespace {

Config bert_network() {
  Config config = network_of({});
  config.decoder_layers = 0;
  config.embedding_scale = 1;
  config.positions = Positions::learned;
  config.has_embedding_norm = true;
  return config;
}

void masked_head(Config& config) {
  config.has_output_transform = true;
  config.has_output_bias = true;
}

void masked_gelu_head(Config& config) {  // whatever the activation of the blocks
  masked_head(config);
  config.output_activation = Activation::gelu;
}

void tanh_head(Config& config) {
  config.pooling = Pooling::first;
  config.head_layer = HeadLayer::tanh;
}

void gelu_head(Config& config) {
  config.pooling = Pooling::first;
  config.head_layer = HeadLayer::gelu;
}

// A yes or no for every token: was it replaced?
void discriminator_head(Config& config) { config.labels = {"replaced"}; }

// Its layer has the activation of the blocks.
FamilyField discriminator_layer() {
  return {[](const io::JsonFields& json, Config& config) {
            const bool is_discriminator =
                config.kind == ModelKind::tagger && !config.labels.empty();
            if (!is_discriminator) return;
            const std::string name = json.choice_or("hidden_act", "gelu", {"gelu", "relu"});
            config.head_layer = name == "gelu" ? HeadLayer::gelu : HeadLayer::relu;
          },
          [](nlohmann::ordered_json&, const Config&) {}};
}

FamilyFields bert_fields(const FamilyFields& own) {
  const FamilyFields common{
      size("num_hidden_layers", &Config::encoder_layers, 12),
      size("type_vocab_size", &Config::token_types, 2),
      activation("hidden_act", "gelu"),
      number("layer_norm_eps", &Config::norm_epsilon, 1e-12F),
      probability("hidden_dropout_prob", &Config::dropout, 0.1F),
      probability("attention_probs_dropout_prob", &Config::attention_dropout, 0.1F),
      only("position_embedding_type", "absolute"),
      only("is_decoder", false),
      only("add_cross_attention", false),
      labels(),
      tied(true)};
  return join(own, common);
}

FamilyFields base_sizes(Index vocabulary) {
  return {size("vocab_size", &Config::vocabulary, vocabulary),
          size("hidden_size", &Config::model_dim, 768),
          size("num_attention_heads", &Config::num_heads, 12),
          size("intermediate_size", &Config::feed_forward_dim, 3072)};
}

FamilyTensors bert_tensors(const std::string& prefix) {
  const std::string theirs = prefix + "encoder.layer.{}.", ours = "encoder.{}.";
  const std::string embeddings = prefix + "embeddings.";
  return table({{{embeddings + "word_embeddings.weight", {"embedding.weight"}},
                 {embeddings + "position_embeddings.weight", {"encoder.positions.weight"}},
                 {embeddings + "token_type_embeddings.weight", {"token_type_embedding.weight"}}},
                norm(embeddings + "LayerNorm", "encoder.embedding_norm"),
                linear(prefix + "embeddings_project", "embedding_projection"),
                attention(theirs + "attention.", ours + "self_attention",
                          {"self.query", "self.key", "self.value", "output.dense"}),
                norm(theirs + "attention.output.LayerNorm", ours + "self_attention_norm"),
                linear(theirs + "intermediate.dense", ours + "feed_forward.hidden"),
                linear(theirs + "output.dense", ours + "feed_forward.output"),
                norm(theirs + "output.LayerNorm", ours + "feed_forward_norm")});
}

FamilyTensors classifier() { return linear("classifier", "head"); }

FamilyTensors bert_masked() {
  const std::string theirs = "cls.predictions.";
  return table({linear(theirs + "transform.dense", "output.transform"),
                norm(theirs + "transform.LayerNorm", "output.norm"),
                {{theirs + "decoder.weight", {"output.weight"}},
                 {theirs + "bias", {"output.bias"}, {}, {theirs + "decoder.bias"}}}});
}

Family bert_family() {
  return {.model_type = "bert",
          .prefix = "bert.",
          .network = bert_network(),
          .classes = {{"BertForMaskedLM", ModelKind::masked, masked_head, bert_masked()},
                      {"BertForPreTraining", ModelKind::masked, masked_head, bert_masked()},
                      {"BertForSequenceClassification", ModelKind::classifier, tanh_head,
                       table({linear("bert.pooler.dense", "head_layer"), classifier()})},
                      {"BertForTokenClassification", ModelKind::tagger, {}, classifier()},
                      {"BertModel", ModelKind::encoder}},
          .fields = bert_fields(
              join(base_sizes(30522), {size("max_position_embeddings", &Config::max_positions, 512),
                                       special_tokens({.pad = 0})})),
          .tensors = bert_tensors("bert."),
          .ignored = {"position_ids", "pooler", "cls.seq_relationship"}};
}

FamilyTensors roberta_masked() {
  return table({linear("lm_head.dense", "output.transform"),
                norm("lm_head.layer_norm", "output.norm"),
                {{"lm_head.decoder.weight", {"output.weight"}},
                 {"lm_head.bias", {"output.bias"}, {}, {"lm_head.decoder.bias"}}}});
}

FamilyTensors two_layers() {
  return table({linear("classifier.dense", "head_layer"), linear("classifier.out_proj", "head")});
}

Family roberta_family(std::string_view model_type, const std::array<std::string_view, 4>& classes,
                      Index vocabulary) {
  return {.model_type = model_type,
          .prefix = "roberta.",
          .network = bert_network(),
          .classes = {{classes[0], ModelKind::masked, masked_gelu_head, roberta_masked()},
                      {classes[1], ModelKind::classifier, tanh_head, two_layers()},
                      {classes[2], ModelKind::tagger, {}, classifier()},
                      {classes[3], ModelKind::encoder}},
          .fields = bert_fields(
              join(base_sizes(vocabulary),
                   {special_tokens({.pad = 1, .begin = 0, .end = 2}), positions_after_pad(512)})),
          .tensors = bert_tensors("roberta."),
          .ignored = {"position_ids", "pooler"}};
}

Family electra_family() {
  const std::string generator = "generator_predictions.";
  const std::string discriminator = "discriminator_predictions.";
  const FamilyTensors masked =
      table({linear(generator + "dense", "output.transform"),
             norm(generator + "LayerNorm", "output.norm"), linear("generator_lm_head", "output")});
  const FamilyTensors replaced = table({linear(discriminator + "dense", "head_layer"),
                                        linear(discriminator + "dense_prediction", "head")});
  return {.model_type = "electra",
          .prefix = "electra.",
          .network = bert_network(),
          .classes = {{"ElectraForPreTraining", ModelKind::tagger, discriminator_head, replaced},
                      {"ElectraForMaskedLM", ModelKind::masked, masked_gelu_head, masked},
                      {"ElectraForSequenceClassification", ModelKind::classifier, gelu_head,
                       two_layers()},
                      {"ElectraForTokenClassification", ModelKind::tagger, {}, classifier()},
                      {"ElectraModel", ModelKind::encoder}},
          .fields = bert_fields({size("vocab_size", &Config::vocabulary, 30522),
                                 size("hidden_size", &Config::model_dim, 256),
                                 size("num_attention_heads", &Config::num_heads, 4),
                                 size("intermediate_size", &Config::feed_forward_dim, 1024),
                                 size("max_position_embeddings", &Config::max_positions, 512),
                                 embedding_size("embedding_size", 128), discriminator_layer(),
                                 special_tokens({.pad = 0})}),
          .tensors = bert_tensors("electra."),
          .ignored = {"position_ids"}};
}

}  // namespace

std::vector<Family> bert() {
  return {bert_family(),
          roberta_family("roberta",
                         {"RobertaForMaskedLM", "RobertaForSequenceClassification",
                          "RobertaForTokenClassification", "RobertaModel"},
                         50265),
          roberta_family("xlm-roberta",
                         {"XLMRobertaForMaskedLM", "XLMRobertaForSequenceClassification",
                          "XLMRobertaForTokenClassification", "XLMRobertaModel"},
                         30522),
          roberta_family("camembert",
                         {"CamembertForMaskedLM", "CamembertForSequenceClassification",
                          "CamembertForTokenClassification", "CamembertModel"},
                         30522),
          electra_family()};
}

}  // namespace heed::models::families
