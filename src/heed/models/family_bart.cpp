// Encoder-decoders that came from fairseq, and Marian: BART and mBART with learned positions,
// M2M100 and Marian with sinusoids that no file holds.
#include "heed/models/family_fields.h"
#include "heed/models/family_tensors.h"

namespace heed::models::families {
namespace {

Config marian_network() {
  Config config = network_of({});
  config.sinusoid_order = ops::SinusoidOrder::halves;
  config.has_output_bias = true;
  return config;
}

Config bart_network() {
  Config config = network_of({});
  config.positions = Positions::learned;
  config.position_offset = 2;
  config.has_embedding_norm = true;
  config.has_output_bias = true;
  return config;
}

Config mbart_network() {
  Config config = bart_network();
  config.norm_place = NormPlace::before;
  return config;
}

Config m2m100_network() {
  Config config = network_of({});
  config.norm_place = NormPlace::before;
  config.sinusoid_order = ops::SinusoidOrder::whole_halves;
  return config;
}

// Those of the decoder are 0 in Heed where they are the encoder's.
FamilyField decoder_size(const std::string& key, Index Config::*decoder, Index Config::*encoder,
                         Index missing) {
  FamilyField field = size(key, decoder, missing);
  field.read = [=, read = field.read](const io::JsonFields& json, Config& config) {
    read(json, config);
    if (config.*decoder == config.*encoder) config.*decoder = 0;
  };
  field.write = [=](nlohmann::ordered_json& json, const Config& config) {
    json[key] = config.*decoder > 0 ? config.*decoder : config.*encoder;
  };
  return field;
}

FamilyFields bart_fields(Index vocabulary, const FamilyFields& own) {
  const FamilyFields common{
      size("vocab_size", &Config::vocabulary, vocabulary),
      size("d_model", &Config::model_dim, 1024),
      size("encoder_layers", &Config::encoder_layers, 12),
      size("decoder_layers", &Config::decoder_layers, 12),
      size("encoder_attention_heads", &Config::num_heads, 16),
      decoder_size("decoder_attention_heads", &Config::decoder_heads, &Config::num_heads, 16),
      size("encoder_ffn_dim", &Config::feed_forward_dim, 4096),
      decoder_size("decoder_ffn_dim", &Config::decoder_feed_forward_dim, &Config::feed_forward_dim,
                   4096),
      size("max_position_embeddings", &Config::max_positions, 1024),
      probability("dropout", &Config::dropout, 0.1F),
      probability("activation_dropout", &Config::activation_dropout, 0)};
  return join(common, own);
}

FamilyTensors layers(const std::string& stack) {
  const std::string theirs = "model." + stack + ".layers.{}.", ours = stack + ".{}.";
  const AttentionNames names{"q_proj", "k_proj", "v_proj", "out_proj"};
  return table({attention(theirs + "self_attn.", ours + "self_attention", names),
                norm(theirs + "self_attn_layer_norm", ours + "self_attention_norm"),
                attention(theirs + "encoder_attn.", ours + "cross_attention", names),
                norm(theirs + "encoder_attn_layer_norm", ours + "cross_attention_norm"),
                linear(theirs + "fc1", ours + "feed_forward.hidden"),
                linear(theirs + "fc2", ours + "feed_forward.output"),
                norm(theirs + "final_layer_norm", ours + "feed_forward_norm"),
                norm("model." + stack + ".layernorm_embedding", stack + ".embedding_norm"),
                norm("model." + stack + ".layer_norm", stack + ".norm"),
                {{"model." + stack + ".embed_positions.weight", {stack + ".positions.weight"}}}});
}

FamilyTensors bart_tensors() {
  const std::string source = "model.encoder.embed_tokens.weight";
  const std::string target = "model.decoder.embed_tokens.weight";
  return table({{{"model.shared.weight", {"embedding.weight"}, {}, {source, target}},
                 {source, {"source_embedding.weight"}},
                 {target, {"target_embedding.weight"}},
                 {"lm_head.weight", {"output.weight"}},
                 {.theirs = "final_logits_bias",
                  .ours = {"output.bias"},
                  .layout = TensorLayout::one_in_front,
                  .may_be_missing = true}},
                layers("encoder"),
                layers("decoder")});
}

// With vocabularies of their own, source and target have an embedding each.
FamilyField shared_embeddings() {
  return {[](const io::JsonFields& json, Config& config) {
            if (json.boolean_or("share_encoder_decoder_embeddings", true)) return;
            if (config.tying == Tying::all) config.tying = Tying::target;
            config.source_vocabulary = config.vocabulary;
            config.vocabulary = json.integer_or("decoder_vocab_size", config.vocabulary,
                                                {.min = 1, .max = 1 << 24});
          },
          [](nlohmann::ordered_json& json, const Config& config) {
            const bool are_shared = config.tying == Tying::all;
            json["share_encoder_decoder_embeddings"] = are_shared;
            json["tie_word_embeddings"] = config.tying != Tying::none;
            json["decoder_vocab_size"] = config.vocabulary;
            if (config.source_vocabulary > 0) json["vocab_size"] = config.source_vocabulary;
          }};
}

// Positions are counted from the id of the padding on.
FamilyField sinusoids_after_pad() {
  return {
      [](const io::JsonFields&, Config& config) { config.position_offset = config.tokens.pad + 1; },
      [](nlohmann::ordered_json&, const Config&) {}};
}

Family marian() {
  return {.model_type = "marian",
          .prefix = "model.",
          .network = marian_network(),
          .classes = {{"MarianMTModel", ModelKind::translation}},
          .fields =
              bart_fields(58101, {activation("activation_function", "gelu"),
                                  probability("attention_dropout", &Config::attention_dropout, 0),
                                  scaled_embedding(false),
                                  special_tokens({.pad = 58100, .end = 0, .decoder_start = 58100}),
                                  tied(true), shared_embeddings()}),
          .tensors = bart_tensors(),
          .ignored = {"embed_positions"}};
}

Family bart_family() {
  return {.model_type = "bart",
          .prefix = "model.",
          .network = bart_network(),
          .classes = {{"BartForConditionalGeneration", ModelKind::translation}},
          .fields = bart_fields(
              50265, {activation("activation_function", "gelu"),
                      probability("attention_dropout", &Config::attention_dropout, 0),
                      scaled_embedding(false),
                      special_tokens({.pad = 1, .begin = 0, .end = 2, .decoder_start = 2}),
                      tied(true, Tying::inputs)}),
          .tensors = bart_tensors()};
}

Family mbart() {
  Family family = bart_family();
  family.model_type = "mbart";
  family.network = mbart_network();
  family.classes = {{"MBartForConditionalGeneration", ModelKind::translation}};
  return family;
}

Family m2m100() {
  return {.model_type = "m2m_100",
          .prefix = "model.",
          .network = m2m100_network(),
          .classes = {{"M2M100ForConditionalGeneration", ModelKind::translation}},
          .fields = bart_fields(
              128112, {activation("activation_function", "relu"),
                       probability("attention_dropout", &Config::attention_dropout, 0.1F),
                       scaled_embedding(true),
                       special_tokens({.pad = 1, .begin = 0, .end = 2, .decoder_start = 2}),
                       sinusoids_after_pad(), tied(true, Tying::inputs)}),
          .tensors = bart_tensors(),
          .ignored = {"embed_positions"}};
}

}  // namespace

std::vector<Family> bart() { return {bart_family(), mbart(), m2m100(), marian()}; }

}  // namespace heed::models::families
