// The Transformer as plain template code: what models::TranslationModel, LanguageModel, Classifier,
// MaskedModel and Tagger must equal.
#pragma once

#include <cmath>
#include <map>
#include <string>

#include "heed/models/classifier.h"
#include "heed/models/language_model.h"
#include "heed/models/masked_model.h"
#include "heed/models/tagger.h"
#include "heed/models/translation_model.h"
#include "nn/reference_stack.h"
#include "support/gradient_check.h"
#include "support/reference.h"
#include "support/reference_attention.h"
#include "support/reference_losses.h"

namespace heed::reference {

// A model's parameters by name, and the choices that say what to do with them.
template <typename T>
class TransformerReference {
 public:
  using Parameters = std::map<std::string, Matrix<T>>;

  TransformerReference(const models::TransformerConfig& config, const Parameters& parameters)
      : config_(config), parameters_(parameters) {}

  // [1, 1]: the sum over all target tokens of the label-smoothed cross-entropy.
  Matrix<T> loss(const models::TranslationBatch& batch) const {
    const Matrix<T> memory = encode(batch.source);
    const Matrix<T> decoded = decode(batch.target_input, memory, batch.source.spans);
    return vocabulary_loss(decoded, batch.target_output);
  }
  // The same over the tokens that have a loss.
  Matrix<T> loss(const models::LanguageBatch& batch) const {
    Matrix<T> rows = decode(batch.input, Matrix<T>(), Spans());
    if (!batch.places.empty()) rows = gather_rows(rows, std::span(batch.places));
    return vocabulary_loss(rows, batch.next);
  }
  // The same over all lines.
  Matrix<T> loss(const models::ClassifierBatch& batch) const {
    if (config_.problem_type != ProblemType::single_label) return loss_of_targets(batch);
    return projection_cross_entropy(head_input(pool(batch.input)), parameter("head.weight"),
                                    parameter("head.bias"), batch.classes, config_.label_smoothing);
  }
  // The same over the words, by the rows of their first tokens.
  Matrix<T> loss(const models::TaggerBatch& batch) const {
    const Matrix<T> rows = gather_rows(encode(batch.input), std::span(batch.places));
    return projection_cross_entropy(head_input(rows), parameter("head.weight"),
                                    parameter("head.bias"), batch.tags, config_.label_smoothing);
  }
  // The same over the masked places.
  Matrix<T> loss(const models::MaskedBatch& batch) const {
    const Matrix<T> rows = gather_rows(encode(batch.input), std::span(batch.places));
    return vocabulary_loss(rows, batch.hidden);
  }

  Matrix<T> pool(const models::PackedIds& input) const {
    if (config_.pooling == models::Pooling::first && config_.prepends_begin) {
      return first_rows_after_begin(input);
    }
    const Matrix<T> x = encode(input);
    switch (config_.pooling) {
      case models::Pooling::mean:
        return mean_rows(x, input.spans);
      case models::Pooling::max:
        return max_rows(x, input.spans);
      case models::Pooling::attention:
        return attention_pool(x, input.spans);
      default:
        return end_rows(x, input.spans);
    }
  }

 private:
  Matrix<T> vocabulary_loss(const Matrix<T>& hidden, const std::vector<int>& targets) const {
    Matrix<T> x = hidden;
    if (has("hidden_projection.weight")) x = linear("hidden_projection", x);
    if (config_.has_output_transform) {
      const auto activation = config_.output_activation.value_or(config_.activation);
      x = norm("output.norm", activate(activation, linear("output.transform", x)));
    }
    return projection_cross_entropy(scale(x, config_.output_scale), output_weight(),
                                    optional("output.bias"), targets, config_.label_smoothing,
                                    config_.logit_softcap);
  }

  Matrix<T> head_input(const Matrix<T>& x) const {
    using std::tanh;
    switch (config_.head_layer) {
      case models::HeadLayer::tanh:
        return map(linear("head_layer", x), [](const T& v) { return tanh(v); });
      case models::HeadLayer::relu:
        return relu(linear("head_layer", x));
      case models::HeadLayer::gelu:
        return gelu(linear("head_layer", x), ops::GeluForm::exact);
      case models::HeadLayer::none:
        break;
    }
    return x;
  }

  // Several labels, each smoothed over yes and no: the mean of all; or a number.
  Matrix<T> loss_of_targets(const models::ClassifierBatch& batch) const {
    const Matrix<T> logits = linear("head", head_input(pool(batch.input)));
    Matrix<double> targets = matrix_of(batch.targets);
    if (config_.problem_type == ProblemType::regression) return sum(squared_error(logits, targets));
    const double smoothing = config_.label_smoothing;
    for (double& y : targets.values) y = (1 - smoothing) * y + smoothing / 2;
    return scale(sum(binary_cross_entropy(logits, targets)), 1 / static_cast<double>(logits.cols));
  }

  bool has(const std::string& name) const { return parameters_.contains(name); }
  const Matrix<T>& parameter(const std::string& name) const { return parameters_.at(name); }
  Matrix<T> optional(const std::string& name) const {
    return has(name) ? parameter(name) : Matrix<T>();
  }
  // What only some families' stacks have is in the reference of stacks.
  bool has_foreign_stack() const {
    return config_.has_embedding_norm || config_.embedding_dim > 0 || config_.has_shared_layers ||
           config_.has_layer_scale || config_.block_form != models::BlockForm::sequential ||
           config_.norm_place == models::NormPlace::around || config_.position_offset > 0;
  }
  Matrix<T> foreign_stack(const std::string& name, const Matrix<T>& x, const Spans& spans) const {
    std::map<std::string, Matrix<T>> parameters;
    for (const auto& [full_name, value] : parameters_) {
      if (full_name.starts_with(name + '.')) parameters[full_name.substr(name.size() + 1)] = value;
      if (full_name.starts_with("embedding_projection.")) parameters[full_name] = value;
    }
    const bool is_encoder = name == "encoder";
    return StackReference<T>(is_encoder ? encoder_options(config_) : decoder_options(config_),
                             parameters)
        .forward(x, spans);
  }

  const Matrix<T>& source_table() const {
    return parameter(has("embedding.weight") ? "embedding.weight" : "source_embedding.weight");
  }
  const Matrix<T>& target_table() const {
    return parameter(has("embedding.weight") ? "embedding.weight" : "target_embedding.weight");
  }
  const Matrix<T>& output_weight() const {
    return has("output.weight") ? parameter("output.weight") : target_table();
  }

  Matrix<T> linear(const std::string& name, const Matrix<T>& x) const {
    return reference::linear(x, parameter(name + ".weight"), optional(name + ".bias"));
  }

  Matrix<T> norm(const std::string& name, const Matrix<T>& x) const {
    const double epsilon = config_.norm_epsilon;
    if (config_.norm_kind == models::NormKind::rms) {
      return rms_norm(x, parameter(name + ".gain"), epsilon);
    }
    return layer_norm(x, parameter(name + ".gain"), parameter(name + ".bias"), epsilon);
  }

  // x + f(norm(x)), or norm(x + f(x)).
  template <typename SubLayer>
  Matrix<T> residual(const std::string& norm_name, const Matrix<T>& x, SubLayer&& f) const {
    if (config_.norm_place == models::NormPlace::before) return add(x, f(norm(norm_name, x)));
    return norm(norm_name, add(x, f(x)));
  }

  Matrix<T> words(const Matrix<T>& table, const models::PackedIds& tokens) const {
    const double size = config_.embedding_scale ? static_cast<double>(*config_.embedding_scale)
                                                : std::sqrt(static_cast<double>(config_.model_dim));
    Matrix<T> x = embedding(table, std::span<const int>(tokens.ids), size);
    if (has("token_type_embedding.weight")) {
      std::vector<int> types = tokens.types;
      types.resize(tokens.ids.size(), 0);
      x = add(
          x, embedding(parameter("token_type_embedding.weight"), std::span<const int>(types), 1.0));
    }
    const bool is_of_words = config_.embedding_projection == models::EmbeddingProjection::words &&
                             config_.embedding_dim > 0;
    return is_of_words ? linear("embedding_projection", x) : x;
  }

  Matrix<T> embed(const std::string& side, const Matrix<T>& table,
                  const models::PackedIds& tokens) const {
    const Matrix<T> x = words(table, tokens);
    if (config_.positions == models::Positions::sinusoidal) {
      return add_positions(x, sinusoids(tokens.spans.max_length()), tokens.spans);
    }
    if (config_.positions == models::Positions::learned) {
      return add_positions(x, parameter(side + ".positions.weight"), tokens.spans);
    }
    return x;
  }

  // Sine in the even columns, cosine in the odd ones, of position / 10000^(2i / D).
  Matrix<T> sinusoids(Index length) const {
    const Index dim = config_.model_dim;
    Matrix<T> table(length, dim);
    for (Index position = 0; position < length; ++position) {
      for (Index column = 0; column < dim; ++column) {
        const double exponent = static_cast<double>(column / 2 * 2) / static_cast<double>(dim);
        const double angle = static_cast<double>(position) / std::pow(10000.0, exponent);
        table(position, column) = T(column % 2 == 0 ? std::sin(angle) : std::cos(angle));
      }
    }
    return table;
  }

  // Each head's vectors rotated by the angles position * 10000^(-2i / K).
  Matrix<T> rotate(const Matrix<T>& x, const Spans& spans, Index num_heads) const {
    if (config_.positions != models::Positions::rotary) return x;
    const Index width = x.cols / num_heads;
    Matrix<double> cosines(spans.max_length(), width / 2), sines(spans.max_length(), width / 2);
    for (Index position = 0; position < cosines.rows; ++position) {
      for (Index i = 0; i < cosines.cols; ++i) {
        const double angle =
            static_cast<double>(position) *
            std::pow(10000.0, -2 * static_cast<double>(i) / static_cast<double>(width));
        cosines(position, i) = std::cos(angle);
        sines(position, i) = std::sin(angle);
      }
    }
    return rotary(x, cosines, sines, ops::token_positions(spans), {.num_heads = num_heads});
  }

  // Places count within one sequence only: cross-attention knows none.
  Matrix<T> attend(const std::string& name, const Matrix<T>& x, const Spans& spans,
                   const Matrix<T>& memory, const Spans& memory_spans, bool is_self,
                   bool is_causal) const {
    const Index heads = config_.num_heads;
    const Index groups = config_.num_key_value_heads == 0 ? heads : config_.num_key_value_heads;
    Matrix<T> q = linear(name + ".query", x), k = linear(name + ".key", memory);
    const Matrix<T> v = linear(name + ".value", memory);
    AttentionProblem problem{spans, memory_spans};
    problem.mask.causal = is_causal;
    problem.options.num_heads = heads;
    problem.options.num_key_value_heads = groups;
    problem.options.similarity = config_.similarity;
    problem.options.scale = config_.attention_scale;
    if (config_.similarity == ops::Similarity::cosine) {
      problem.options.scale = nn::default_cosine_scale;
    }
    if (is_self) {
      q = rotate(q, spans, heads);
      k = rotate(k, memory_spans, groups);
      if (config_.positions == models::Positions::alibi) {
        problem.options.alibi_slopes = ops::alibi_slopes(heads);
      }
    }
    return linear(
        name + ".output",
        attention(q, k, v, problem, is_self ? distance_bias(name, is_causal) : Matrix<T>()));
  }

  // One table for all layers of a stack, of self-attention alone.
  Matrix<T> distance_bias(const std::string& layer, bool is_causal) const {
    if (config_.relative_buckets == 0) return {};
    const std::vector<Index> buckets =
        ops::buckets_by_distance({.num_buckets = config_.relative_buckets,
                                  .max_distance = config_.relative_max_distance,
                                  .is_bidirectional = !is_causal});
    const std::string stack = layer.substr(0, layer.find('.'));
    return gather_rows(parameter(stack + ".relative_positions.weight"), std::span(buckets));
  }

  Matrix<T> feed_forward(const std::string& name, const Matrix<T>& x) const {
    const Matrix<T> h = linear(name + ".hidden", x);
    if (!has(name + ".gate.weight")) {
      return linear(name + ".output", activate(config_.activation, h));
    }
    const Matrix<T> gate = activate(config_.activation, linear(name + ".gate", x));
    return linear(name + ".output", multiply(gate, h));
  }

  Matrix<T> activate(models::Activation activation, const Matrix<T>& x) const {
    switch (activation) {
      case models::Activation::relu:
        return relu(x);
      case models::Activation::gelu:
        return gelu(x, ops::GeluForm::exact);
      case models::Activation::gelu_tanh:
        return gelu(x, ops::GeluForm::tanh);
      default:
        return silu(x);
    }
  }

  Matrix<T> encode(const models::PackedIds& source) const {
    if (has_foreign_stack()) {
      return foreign_stack("encoder", words(source_table(), source), source.spans);
    }
    Matrix<T> x = embed("encoder", source_table(), source);
    for (Index layer = 0; layer < config_.encoder_layers; ++layer) {
      const std::string name = "encoder." + std::to_string(layer);
      x = residual(name + ".self_attention_norm", x, [&](const Matrix<T>& y) {
        return attend(name + ".self_attention", y, source.spans, y, source.spans, true, false);
      });
      x = residual(name + ".feed_forward_norm", x,
                   [&](const Matrix<T>& y) { return feed_forward(name + ".feed_forward", y); });
    }
    return config_.norm_place == models::NormPlace::before ? norm("encoder.norm", x) : x;
  }

  Matrix<T> end_rows(const Matrix<T>& x, const Spans& spans) const {
    const bool is_first = config_.pooling == models::Pooling::first;
    std::vector<Index> rows;
    for (const Span& span : spans) {
      rows.push_back(is_first ? span.begin : span.begin + span.length - 1);
    }
    return gather_rows(x, std::span<const Index>(rows));
  }

  Matrix<T> attention_pool(const Matrix<T>& x, const Spans& spans) const {
    const std::vector<Index> same_row(spans.count(), 0), lengths(spans.count(), 1);
    const Matrix<T> queries = gather_rows(parameter("pooling.query"), std::span(same_row));
    return attention(queries, x, x, {Spans::of_lengths(lengths), spans});
  }

  Matrix<T> first_rows_after_begin(const models::PackedIds& input) const {
    models::PackedIds longer;
    std::vector<Index> lengths;
    for (const Span& span : input.spans) {
      longer.ids.push_back(config_.tokens.begin);
      for (Index i = 0; i < span.length; ++i) longer.ids.push_back(input.ids[span.begin + i]);
      lengths.push_back(span.length + 1);
    }
    longer.spans = Spans::of_lengths(lengths);
    return end_rows(encode(longer), longer.spans);
  }

  // Without an encoder there is no memory.
  Matrix<T> decode(const models::PackedIds& target, const Matrix<T>& memory,
                   const Spans& memory_spans) const {
    if (has_foreign_stack()) {
      return foreign_stack("decoder", words(target_table(), target), target.spans);
    }
    Matrix<T> x = embed("decoder", target_table(), target);
    for (Index layer = 0; layer < config_.decoder_layers; ++layer) {
      const std::string name = "decoder." + std::to_string(layer);
      x = residual(name + ".self_attention_norm", x, [&](const Matrix<T>& y) {
        return attend(name + ".self_attention", y, target.spans, y, target.spans, true, true);
      });
      if (config_.encoder_layers > 0) {
        x = residual(name + ".cross_attention_norm", x, [&](const Matrix<T>& y) {
          return attend(name + ".cross_attention", y, target.spans, memory, memory_spans, false,
                        false);
        });
      }
      x = residual(name + ".feed_forward_norm", x,
                   [&](const Matrix<T>& y) { return feed_forward(name + ".feed_forward", y); });
    }
    return config_.norm_place == models::NormPlace::before ? norm("decoder.norm", x) : x;
  }

  models::TransformerConfig config_;
  const Parameters& parameters_;
};

}  // namespace heed::reference
