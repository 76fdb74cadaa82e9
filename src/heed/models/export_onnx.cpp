#include "heed/models/export_onnx.h"

#include <cmath>
#include <numeric>

#include "heed/base/error.h"
#include "heed/models/classifier.h"
#include "heed/models/encoder.h"
#include "heed/models/image_classifier.h"
#include "heed/models/onnx_layers.h"
#include "heed/models/onnx_stack.h"

namespace heed::models {
namespace {

io::OnnxType stored_type(WeightFormat weights) {
  check_as(ErrorKind::model, weights == WeightFormat::f32 || weights == WeightFormat::f16,
           "weights: expected f32 or f16 for ONNX, found ", name_of(weights));
  return weights == WeightFormat::f32 ? io::OnnxType::f32 : io::OnnxType::f16;
}

// A graph that grows layer by layer.
class OnnxExport {
 public:
  OnnxExport(const TransformerConfig& config, std::vector<nn::NamedTensor> parameters,
             WeightFormat weights)
      : config_(config),
        graph_("heed"),
        layers_(graph_, std::move(parameters), stored_type(weights)),
        stack_(layers_, encoder_options(config)) {
    graph_.metadata("model_type", name_of(config.kind));
    for (std::size_t i = 0; i < config.labels.size(); ++i) {
      graph_.metadata("label." + std::to_string(i), config.labels[i]);
    }
  }

  void read_text() {
    read_inputs();
    if (puts_begin_first(config_)) prepend_begin();
    mask_ = layers_.cast(tokens_mask_, io::OnnxType::f32);
    x_ = stack_.forward(
        embed_text(),
        {.positions = text_positions(), .mask = mask_, .max_positions = config_.max_positions});
  }

  void read_image() {
    const Index length = num_image_tokens(config_);
    std::vector<std::int64_t> places(static_cast<std::size_t>(length));
    std::iota(places.begin(), places.end(), 0);
    const OnnxValue positions = layers_.unsqueeze(graph_.integers(places), {0});  // [1, S]
    x_ = stack_.forward(embed_image(),
                        {.positions = positions, .mask = {}, .max_positions = length});
  }

  void pool() {
    switch (config_.pooling) {
      case Pooling::mean:
        return pool_by(mean_weights());
      case Pooling::attention:
        return pool_by(attention_weights());
      case Pooling::max: {
        const OnnxValue y = mask_.empty() ? x_ : layers_.add(x_, layers_.unsqueeze(penalty(), {2}));
        x_ = graph_.node("ReduceMax", {y},
                         {{"axes", std::vector<std::int64_t>{1}}, {"keepdims", std::int64_t{0}}});
        return;
      }
      case Pooling::first:
      case Pooling::last:
        return pool_by(end_weights(config_.pooling == Pooling::first));
    }
  }

  void classify() {
    if (config_.head_layer != HeadLayer::none) {
      x_ = layers_.linear("head_layer", x_);
      x_ = head_activation(x_);
    }
    x_ = layers_.linear("head", x_);
    if (config_.problem_type == ProblemType::regression) {
      x_ = layers_.add(layers_.scale(x_, config_.score_scale), graph_.real(config_.score_mean));
    }
    graph_.output("logits", x_, io::OnnxType::f32,
                  {"batch", std::to_string(config_.labels.size())});
  }

  void give_embeddings() {
    if (config_.normalizes) {
      constexpr float least = 1e-12f;
      const OnnxValue length =
          graph_.node("Sqrt", {layers_.sum(layers_.multiply(x_, x_), -1, true)});
      x_ = graph_.node("Div", {x_, graph_.node("Max", {length, graph_.real(least)})});
    }
    graph_.output("embeddings", x_, io::OnnxType::f32,
                  {"batch", std::to_string(config_.model_dim)});
  }

  void write(const std::string& path) { graph_.write(path); }

 private:
  // ---- Texts

  void read_inputs() {
    const io::OnnxGraph::Axes axes{"batch", "sequence"};
    ids_ = graph_.input("input_ids", io::OnnxType::i64, axes);
    tokens_mask_ = graph_.input("attention_mask", io::OnnxType::i64, axes);
    if (config_.token_types == 0) return;
    types_ = graph_.input("token_type_ids", io::OnnxType::i64, axes);
  }

  void prepend_begin() {
    const OnnxValue shape = layers_.concat({layers_.size(ids_, 0), graph_.integers({1})}, 0);
    const auto prepend = [&](OnnxValue& values, std::int64_t value) {
      const OnnxValue column = graph_.node("Expand", {graph_.integer(value), shape});
      values = layers_.concat({column, values}, 1);
    };
    prepend(ids_, config_.tokens.begin);
    prepend(tokens_mask_, 1);
    if (!types_.empty()) prepend(types_, 0);
  }

  OnnxValue embed_text() {
    const OnnxValue table = layers_.table("embedding.weight", embedding_scale(config_));
    const OnnxValue words = graph_.node("Gather", {table, ids_});
    if (types_.empty()) return words;
    const OnnxValue types = layers_.table("token_type_embedding.weight");
    return layers_.add(words, graph_.node("Gather", {types, types_}));
  }

  // The place of every token among those of its text, wherever the padding is: [B, S].
  OnnxValue text_positions() {
    counts_ = graph_.node("CumSum", {tokens_mask_, graph_.integer(1)});
    const OnnxValue places = graph_.node("Sub", {counts_, graph_.integer(1)});
    return layers_.multiply(places, tokens_mask_);
  }

  // ---- Images

  // [B, C, height, width] -> [B, patches, side * side * C], the channels of a pixel side by side.
  OnnxValue embed_image() {
    const Index side = config_.patch_side, channels = config_.image_channels;
    const Index rows = config_.image_height / side, cols = config_.image_width / side;
    const OnnxValue pixels =
        graph_.input("pixel_values", io::OnnxType::f32,
                     {"batch", std::to_string(channels), std::to_string(config_.image_height),
                      std::to_string(config_.image_width)});
    const OnnxValue grid = layers_.reshape(pixels, {0, channels, rows, side, cols, side});
    const OnnxValue patches = layers_.reshape(layers_.transpose(grid, {0, 2, 4, 3, 5, 1}),
                                              {0, rows * cols, side * side * channels});
    const OnnxValue words = layers_.linear("embedding.projection", patches);
    if (!config_.has_class_token) return words;
    const OnnxValue shape =
        layers_.concat({layers_.size(pixels, 0), graph_.integers({1, config_.model_dim})}, 0);
    const OnnxValue token = graph_.node("Expand", {layers_.table("class_token"), shape});
    return layers_.concat({token, words}, 1);
  }

  // ---- Pooling

  OnnxValue penalty() {  // [B, S], 0 for tokens, very low for padding
    constexpr float masked = -1e9f;
    return layers_.scale(graph_.node("Sub", {graph_.real(1), mask_}), masked);
  }

  // The sum of all vectors times their weights [B or 1, S].
  void pool_by(const OnnxValue& weights) {
    x_ = layers_.sum(layers_.multiply(x_, layers_.unsqueeze(weights, {2})), 1, false);
  }

  OnnxValue mean_weights() {
    if (!mask_.empty()) return graph_.node("Div", {mask_, layers_.sum(mask_, 1, true)});
    const Index length = num_image_tokens(config_);
    return image_weights(
        std::vector<float>(static_cast<std::size_t>(length), 1 / static_cast<float>(length)));
  }

  OnnxValue image_weights(const std::vector<float>& weights) {
    return graph_.weights("pooling_weights", {1, std::ssize(weights)}, weights);
  }

  OnnxValue end_weights(bool is_first) {
    if (mask_.empty()) {
      std::vector<float> weights(static_cast<std::size_t>(num_image_tokens(config_)), 0.0f);
      (is_first ? weights.front() : weights.back()) = 1;
      return image_weights(weights);
    }
    const OnnxValue end =
        is_first ? graph_.integer(1) : layers_.sum(tokens_mask_, 1, /*keeps_axis=*/true);
    const OnnxValue is_end = graph_.node("Equal", {counts_, end});
    return layers_.multiply(layers_.cast(is_end, io::OnnxType::f32), mask_);
  }

  // softmax(q x^T / sqrt(D)), a learned query.
  OnnxValue attention_weights() {
    const float scale = 1 / std::sqrt(static_cast<float>(config_.model_dim));
    const OnnxValue query = layers_.table("pooling.query", scale);  // [1, D]
    OnnxValue scores = layers_.sum(layers_.multiply(x_, query), 2, false);
    if (!mask_.empty()) scores = layers_.add(scores, penalty());
    return graph_.node("Softmax", {scores}, {{"axis", std::int64_t{1}}});
  }

  OnnxValue head_activation(const OnnxValue& x) {
    switch (config_.head_layer) {
      case HeadLayer::relu:
        return layers_.activation(Activation::relu, x);
      case HeadLayer::gelu:
        return layers_.activation(Activation::gelu, x);
      case HeadLayer::tanh:
      case HeadLayer::none:
        break;
    }
    return graph_.node("Tanh", {x});
  }

  const TransformerConfig config_;
  io::OnnxGraph graph_;
  OnnxLayers layers_;
  OnnxStack stack_;
  OnnxValue ids_, types_, tokens_mask_;
  OnnxValue counts_;  // of the tokens up to each, [B, S]
  OnnxValue mask_;    // as floats; empty for images
  OnnxValue x_;
};

}  // namespace

void export_onnx(const Classifier& model, const std::string& path, WeightFormat weights) {
  OnnxExport file(model.config(), parameters(model), weights);
  file.read_text();
  file.pool();
  file.classify();
  file.write(path);
}

void export_onnx(const Encoder& model, const std::string& path, WeightFormat weights) {
  OnnxExport file(model.config(), parameters(model), weights);
  file.read_text();
  file.pool();
  file.give_embeddings();
  file.write(path);
}

void export_onnx(const ImageClassifier& model, const std::string& path, WeightFormat weights) {
  OnnxExport file(model.config(), parameters(model), weights);
  file.read_image();
  file.pool();
  file.classify();
  file.write(path);
}

}  // namespace heed::models
