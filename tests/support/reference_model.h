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
#include "heed/text/tokenizer.h"
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
    return projection_cross_entropy(decoded, output_weight(), Matrix<T>(), batch.target_output,
                                    config_.label_smoothing);
  }
  // The same over the tokens that have a loss.
  Matrix<T> loss(const models::LanguageBatch& batch) const {
    Matrix<T> rows = decode(batch.input, Matrix<T>(), Spans());
    if (!batch.places.empty()) rows = gather_rows(rows, std::span(batch.places));
    return projection_cross_entropy(rows, output_weight(), Matrix<T>(), batch.next,
                                    config_.label_smoothing);
  }
  // The same over all lines.
  Matrix<T> loss(const models::ClassifierBatch& batch) const {
    if (config_.problem_type != ProblemType::single_label) return loss_of_targets(batch);
    return projection_cross_entropy(pool(batch.input), parameter("head.weight"),
                                    parameter("head.bias"), batch.classes, config_.label_smoothing);
  }
  // The same over the words, by the rows of their first tokens.
  Matrix<T> loss(const models::TaggerBatch& batch) const {
    const Matrix<T> rows = gather_rows(encode(batch.input), std::span(batch.places));
    return projection_cross_entropy(rows, parameter("head.weight"), parameter("head.bias"),
                                    batch.tags, config_.label_smoothing);
  }
  // The same over the masked places.
  Matrix<T> loss(const models::MaskedBatch& batch) const {
    const Matrix<T> rows = gather_rows(encode(batch.input), std::span(batch.places));
    return projection_cross_entropy(rows, output_weight(), Matrix<T>(), batch.hidden,
                                    config_.label_smoothing);
  }

 private:
  // Several labels, each smoothed over yes and no: the mean of all; or a number.
  Matrix<T> loss_of_targets(const models::ClassifierBatch& batch) const {
    const Matrix<T> logits = linear("head", pool(batch.input));
    Matrix<double> targets = matrix_of(batch.targets);
    if (config_.problem_type == ProblemType::regression) return sum(squared_error(logits, targets));
    const double smoothing = config_.label_smoothing;
    for (double& y : targets.values) y = (1 - smoothing) * y + smoothing / 2;
    return scale(sum(binary_cross_entropy(logits, targets)), 1 / static_cast<double>(logits.cols));
  }

  bool has(const std::string& name) const { return parameters_.contains(name); }
  const Matrix<T>& parameter(const std::string& name) const { return parameters_.at(name); }

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
    return reference::linear(x, parameter(name + ".weight"), parameter(name + ".bias"));
  }

  Matrix<T> norm(const std::string& name, const Matrix<T>& x) const {
    const double epsilon = 1e-5f;
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

  Matrix<T> embed(const std::string& side, const Matrix<T>& table,
                  const models::PackedIds& tokens) const {
    const double size = std::sqrt(static_cast<double>(config_.model_dim));
    const Matrix<T> x = embedding(table, std::span<const int>(tokens.ids), size);
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
    return linear(name + ".output", attention(q, k, v, problem));
  }

  Matrix<T> feed_forward(const std::string& name, const Matrix<T>& x) const {
    const Matrix<T> h = linear(name + ".hidden", x);
    if (config_.activation == models::Activation::relu) return linear(name + ".output", relu(h));
    if (config_.activation == models::Activation::gelu) {
      return linear(name + ".output", gelu(h, ops::GeluForm::exact));
    }
    return linear(name + ".output", swiglu(linear(name + ".gate", x), h));
  }

  Matrix<T> encode(const models::PackedIds& source) const {
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

  Matrix<T> pool(const models::PackedIds& input) const {
    if (config_.pooling == models::Pooling::mean) return mean_rows(encode(input), input.spans);
    if (config_.pooling == models::Pooling::attention) {
      const Matrix<T> x = encode(input);
      const std::vector<Index> same_row(input.spans.count(), 0), lengths(input.spans.count(), 1);
      const Matrix<T> queries = gather_rows(parameter("pooling.query"), std::span(same_row));
      return attention(queries, x, x, {Spans::of_lengths(lengths), input.spans});
    }
    models::PackedIds longer;
    std::vector<Index> first_rows, lengths;
    for (const Span& span : input.spans) {
      first_rows.push_back(static_cast<Index>(longer.ids.size()));
      longer.ids.push_back(text::own_tokens::begin);
      for (Index i = 0; i < span.length; ++i) longer.ids.push_back(input.ids[span.begin + i]);
      lengths.push_back(span.length + 1);
    }
    longer.spans = Spans::of_lengths(lengths);
    return gather_rows(encode(longer), std::span<const Index>(first_rows));
  }

  // Without an encoder there is no memory.
  Matrix<T> decode(const models::PackedIds& target, const Matrix<T>& memory,
                   const Spans& memory_spans) const {
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
