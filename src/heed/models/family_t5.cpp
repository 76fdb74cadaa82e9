// T5 1.0 and 1.1 (Flan), and mT5: bias by relative position, scores without a scale, RMS norms.
#include <cmath>

#include "heed/models/family_fields.h"
#include "heed/models/family_tensors.h"

namespace heed::models::families {
namespace {

Config t5_network() {
  Config config = network_of({});
  config.embedding_scale = 1;
  config.similarity = ops::Similarity::dot;
  config.norm_place = NormPlace::before;
  config.norm_kind = NormKind::rms;
  config.positions = Positions::none;
  config.freezes_padding = false;
  config.attention_bias = AttentionBias::none;
  config.has_feed_forward_bias = false;
  return config;
}

// relu, or gated-gelu, whose GELU is the one by tanh.
FamilyField feed_forward_form(const std::string& missing) {
  const auto parts = [=](const io::JsonFields& json) {
    const std::string form = json.choice_or("feed_forward_proj", missing,
                                            {"relu", "gelu", "silu", "gated-gelu", "gated-silu",
                                             "gated-relu", "gelu_new", "gated-gelu_new"});
    const bool is_gated = form.starts_with("gated-");
    return std::pair(is_gated, is_gated ? form.substr(6) : form);
  };
  return {[=](const io::JsonFields& json, Config& config) {
            const auto form = parts(json);
            config.has_feed_forward_gate = form.first;
            config.activation = form.second == "relu"                  ? Activation::relu
                                : form.second == "silu"                ? Activation::silu
                                : form.second == "gelu" && !form.first ? Activation::gelu
                                                                       : Activation::gelu_tanh;
          },
          [](nlohmann::ordered_json& json, const Config& config) {
            const bool is_gated = config.has_feed_forward_gate;
            const std::string name = config.activation == Activation::relu   ? "relu"
                                     : config.activation == Activation::silu ? "silu"
                                     : config.activation == Activation::gelu || is_gated
                                         ? "gelu"
                                         : "gelu_new";
            json["feed_forward_proj"] = (is_gated ? "gated-" : "") + name;
          }};
}

// Tied ones are scaled down; release 5 says so, older ones by tie_word_embeddings.
FamilyField output_scale(bool tied_if_missing) {
  return {[=](const io::JsonFields& json, Config& config) {
            const bool is_scaled = json.boolean_or(
                "scale_decoder_outputs", json.boolean_or("tie_word_embeddings", tied_if_missing));
            if (!is_scaled) return;
            config.output_scale =
                static_cast<float>(1 / std::sqrt(static_cast<double>(config.model_dim)));
          },
          [](nlohmann::ordered_json& json, const Config& config) {
            // Older readers scale if this says tied, and find tied ones by what the file lacks.
            json["tie_word_embeddings"] = config.output_scale != 1;
            json["scale_decoder_outputs"] = config.output_scale != 1;
          }};
}

// Absent or null: as many as the encoder.
FamilyField decoder_layers() {
  return {[](const io::JsonFields& json, Config& config) {
            config.decoder_layers = json.integer_or("num_decoder_layers", config.encoder_layers,
                                                    {.min = 1, .max = 1024});
          },
          [](nlohmann::ordered_json& json, const Config& config) {
            json["num_decoder_layers"] = config.decoder_layers;
          }};
}

// One matrix, or the activated and the linear one.
FamilyTensors feed_forward(const std::string& theirs, const std::string& ours) {
  const std::string gate = ours + "gate.weight", hidden = ours + "hidden.weight";
  return {{.theirs = theirs + "wi.weight", .ours = {hidden}, .without = gate},
          {.theirs = theirs + "wi_0.weight", .ours = {gate}},
          {.theirs = theirs + "wi_1.weight", .ours = {hidden}, .with = gate},
          {theirs + "wo.weight", {ours + "output.weight"}}};
}

FamilyTensors layers(const std::string& stack, const std::string& feed_forward_layer) {
  const std::string theirs = stack + ".block.{}.layer.", ours = stack + ".{}.";
  const std::string last = theirs + feed_forward_layer + ".";
  const AttentionNames names{"q", "k", "v", "o"};
  FamilyTensors rows =
      table({attention(theirs + "0.SelfAttention.", ours + "self_attention", names),
             norm(theirs + "0.layer_norm", ours + "self_attention_norm"),
             feed_forward(last + "DenseReluDense.", ours + "feed_forward."),
             norm(last + "layer_norm", ours + "feed_forward_norm"),
             norm(stack + ".final_layer_norm", stack + ".norm"),
             {{stack + ".block.0.layer.0.SelfAttention.relative_attention_bias.weight",
               {stack + ".relative_positions.weight"}}}});
  if (stack == "encoder") return rows;
  return table({rows, attention(theirs + "1.EncDecAttention.", ours + "cross_attention", names),
                norm(theirs + "1.layer_norm", ours + "cross_attention_norm")});
}

FamilyTensors t5_tensors() {
  return table({{{"shared.weight",
                  {"embedding.weight"},
                  {},
                  {"encoder.embed_tokens.weight", "decoder.embed_tokens.weight"}},
                 {"lm_head.weight", {"output.weight"}}},
                layers("encoder", "1"),
                layers("decoder", "2")});
}

struct Missing {
  Index vocabulary, feed_forward, layers, heads;
  std::string form;
  bool is_tied;
};

Family t5_family(std::string_view model_type, std::string_view class_name, const Missing& missing) {
  return {.model_type = model_type,
          .network = t5_network(),
          .classes = {{class_name, ModelKind::translation}},
          .fields = {size("vocab_size", &Config::vocabulary, missing.vocabulary),
                     size("d_model", &Config::model_dim, 512), size("d_kv", &Config::head_dim, 64),
                     size("d_ff", &Config::feed_forward_dim, missing.feed_forward),
                     size("num_layers", &Config::encoder_layers, missing.layers), decoder_layers(),
                     size("num_heads", &Config::num_heads, missing.heads),
                     size("relative_attention_num_buckets", &Config::relative_buckets, 32),
                     size("relative_attention_max_distance", &Config::relative_max_distance, 128),
                     number("layer_norm_epsilon", &Config::norm_epsilon, 1e-6F),
                     probability("dropout_rate", &Config::dropout, 0.1F),
                     feed_forward_form(missing.form),
                     special_tokens({.pad = 0, .end = 1, .decoder_start = 0}),
                     tied(missing.is_tied, Tying::inputs), output_scale(missing.is_tied)},
          .tensors = t5_tensors(),
          .ignored = {"EncDecAttention.relative_attention_bias"}};
}

}  // namespace

std::vector<Family> t5() {
  return {
      t5_family("t5", "T5ForConditionalGeneration", {32128, 2048, 6, 8, "relu", true}),
      t5_family("mt5", "MT5ForConditionalGeneration", {250112, 1024, 8, 6, "gated-gelu", false})};
}

}  // namespace heed::models::families
