#include "heed/models/export_gguf.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "heed/base/error.h"
#include "heed/io/gguf_writer.h"
#include "heed/models/gguf_architecture.h"
#include "heed/models/language_model.h"
#include "heed/nn/positions.h"
#include "heed/ops/rotary_periods.h"

namespace heed::models {
namespace {

using Numbers = std::vector<float>;

Numbers numbers_of(const Tensor& tensor) {
  return {tensor.values().begin(), tensor.values().end()};
}

Numbers scale(Numbers numbers, float factor) {
  for (float& number : numbers) number *= factor;
  return numbers;
}

// Pairs (i, i + K / 2) of every head become (2i, 2i + 1). `row` numbers belong together: those of
// a row of a matrix, or one of a bias.
Numbers as_neighbours(const Numbers& from, Index num_heads, Index row) {
  const Index head_dim = std::ssize(from) / (num_heads * row), half = head_dim / 2;
  Numbers to(from.size());
  for (Index head = 0; head < num_heads; ++head) {
    for (Index i = 0; i < head_dim; ++i) {
      const Index source = head * head_dim + i % 2 * half + i / 2;
      const Index target = head * head_dim + i;
      std::copy_n(from.begin() + source * row, row, to.begin() + target * row);
    }
  }
  return to;
}

std::uint32_t number_of(Index value) {
  check_as(ErrorKind::model, value >= 0 && value <= std::numeric_limits<std::uint32_t>::max(),
           "GGUF: expected sizes of 32 bits, found ", value);
  return static_cast<std::uint32_t>(value);
}

class GgufExport {
 public:
  GgufExport(const LanguageModel& model, const GgufOptions& options)
      : config_(model.config()),
        architecture_(gguf_architecture(config_)),
        options_(options),
        stack_(decoder_options(config_)) {
    check_as(ErrorKind::model,
             options.weights == WeightFormat::f32 || options.weights == WeightFormat::f16 ||
                 options.weights == WeightFormat::int8,
             "weights: expected f32, f16 or int8 (Q8_0) for GGUF, found ",
             name_of(options.weights));
    for (nn::NamedTensor& parameter : parameters(model)) {
      parameters_.emplace(std::move(parameter.name), std::move(parameter.value));
    }
    head_dim_ = stack_.head_dim > 0 ? stack_.head_dim : stack_.model_dim / stack_.num_heads;
    num_key_value_heads_ = ops::num_key_value_heads(stack_);
  }

  void write(GgufVocabulary vocabulary, const std::string& path) {
    num_added_ = complete_vocabulary(vocabulary, config_.vocabulary);
    write_general();
    write_sizes();
    write_positions();
    write_vocabulary(file_, vocabulary, config_.tokens);
    if (!options_.chat_template.empty()) {
      file_.text("tokenizer.chat_template", options_.chat_template);
    }
    add_embeddings();
    for (Index layer = 0; layer < stack_.num_layers; ++layer) add_block(layer);
    add_output();
    file_.write(path);
  }

  std::vector<std::string> notes() const {
    if (config_.activation != Activation::gelu) return {};
    return {fmt::format(
        "activation_function: gelu: GGUF's {} computes it by tanh; activations differ by up to "
        "0.0005",
        architecture_.name)};
  }

 private:
  // ---- Metadata

  std::string key(std::string_view name) const {
    return fmt::format("{}.{}", architecture_.name, name);
  }

  void write_general() {
    constexpr std::uint32_t alignment = 32, quantization_version = 2;
    constexpr std::uint32_t all_f32 = 0, mostly_f16 = 1, mostly_q8_0 = 7;
    file_.text("general.architecture", architecture_.name);
    file_.text("general.name", options_.name);
    file_.number("general.alignment", alignment);
    file_.number("general.file_type", options_.weights == WeightFormat::f32   ? all_f32
                                      : options_.weights == WeightFormat::f16 ? mostly_f16
                                                                              : mostly_q8_0);
    if (options_.weights == WeightFormat::int8) {
      file_.number("general.quantization_version", quantization_version);
    }
  }

  void write_sizes() {
    file_.number(key("vocab_size"), number_of(config_.vocabulary + num_added_));
    file_.number(key("context_length"), number_of(config_.max_positions));
    file_.number(key("embedding_length"), number_of(stack_.model_dim));
    file_.number(key("block_count"), number_of(stack_.num_layers));
    file_.number(key("feed_forward_length"), number_of(stack_.feed_forward_dim));
    file_.number(key("attention.head_count"), number_of(stack_.num_heads));
    file_.number(key("attention.head_count_kv"), number_of(num_key_value_heads_));
    file_.number(key("attention.key_length"), number_of(head_dim_));
    file_.number(key("attention.value_length"), number_of(head_dim_));
    const bool is_rms = stack_.norm_kind == NormKind::rms;
    file_.real(key(is_rms ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon"),
               stack_.norm_epsilon);
    if (architecture_.name == "gptneox") {
      file_.flag(key("use_parallel_residual"), stack_.block_form == BlockForm::parallel);
    }
  }

  void write_positions() {
    if (stack_.positions == Positions::alibi) {
      constexpr float paper_exponent = 8;  // slopes begin at 2^(-8 / heads)
      file_.real(key("attention.max_alibi_bias"), paper_exponent);
    }
    if (stack_.positions != Positions::rotary) return;
    const ops::RotaryFrequencies& rotary = stack_.rotary;
    file_.number(key("rope.dimension_count"), number_of(rotary.dim > 0 ? rotary.dim : head_dim_));
    file_.real(key("rope.freq_base"), static_cast<float>(rotary.base));
    const bool is_linear = rotary.scaling == ops::RotaryScaling::linear;
    if (!is_linear && rotary.scaling != ops::RotaryScaling::yarn) return;
    file_.text(key("rope.scaling.type"), is_linear ? "linear" : "yarn");
    file_.real(key("rope.scaling.factor"), static_cast<float>(rotary.factor));
    if (is_linear) return;
    file_.number(key("rope.scaling.original_context_length"), number_of(rotary.original_positions));
  }

  // ---- Tensors

  const Tensor* find(const std::string& name) const {
    const auto found = parameters_.find(name);
    return found == parameters_.end() ? nullptr : &found->second;
  }

  const Tensor& require(const std::string& name) const {
    const Tensor* tensor = find(name);
    check(tensor, "GGUF: expected the parameter ", name);
    return *tensor;
  }

  // Rows that are no whole blocks of Q8_0 are F16, as in other files of that format.
  io::GgufType matrix_type(Index cols) const {
    if (options_.weights == WeightFormat::f32) return io::GgufType::f32;
    const bool is_q8_0 = options_.weights == WeightFormat::int8 && cols % io::gguf_block == 0;
    return is_q8_0 ? io::GgufType::q8_0 : io::GgufType::f16;
  }

  void add_matrix(const std::string& name, Index rows, Index cols, io::GgufWriter::Values values) {
    file_.tensor(name, {rows, cols}, matrix_type(cols), std::move(values));
  }

  void add_vector(const std::string& name, Numbers values) {
    const Index size = std::ssize(values);
    file_.tensor(name, {size}, io::GgufType::f32, [values = std::move(values)] { return values; });
  }

  // The bias of a linear layer or a norm; zeros where the architecture needs one.
  std::optional<Numbers> bias(const std::string& ours, Index size) const {
    if (const Tensor* values = find(ours + ".bias")) return numbers_of(*values);
    if (architecture_.needs_biases) return Numbers(static_cast<std::size_t>(size), 0.0f);
    return std::nullopt;
  }

  void add_norm(const std::string& ours, const std::string& name, float factor = 1) {
    Numbers gain = numbers_of(require(ours + ".gain"));
    for (float& one : gain) one = (stack_.has_norm_unit_offset ? one + 1 : one) * factor;
    const Index size = std::ssize(gain);
    add_vector(name + ".weight", std::move(gain));
    if (stack_.norm_kind == NormKind::rms) return;
    if (auto values = bias(ours, size)) add_vector(name + ".bias", std::move(*values));
  }

  void add_linear(const std::string& ours, const std::string& name) {
    const Tensor& weight = require(ours + ".weight");
    add_matrix(name + ".weight", weight.dim(0), weight.dim(1),
               [weight] { return numbers_of(weight); });
    if (auto values = bias(ours, weight.dim(0))) add_vector(name + ".bias", std::move(*values));
  }

  // The bytes that were added have the row of a token of the model. They are read as the unknown
  // token, and are as likely as the pad token: the first of equal logits, not theirs, is chosen.
  void add_token_table(const std::string& name, const Tensor& table, float factor, int token) {
    const Index rows = table.dim(0), cols = table.dim(1), num_added = num_added_;
    check_as(ErrorKind::model, num_added == 0 || (token >= 0 && token < rows),
             "tokenizer: expected pieces of all bytes for GGUF, or tokens for what is unknown and "
             "for padding, found neither");
    add_matrix(name, rows + num_added, cols, [=] {
      Numbers numbers = scale(numbers_of(table), factor);
      if (num_added == 0) return numbers;
      const Numbers row(numbers.begin() + token * cols, numbers.begin() + (token + 1) * cols);
      for (Index i = 0; i < num_added; ++i) numbers.insert(numbers.end(), row.begin(), row.end());
      return numbers;
    });
  }

  void add_embeddings() {
    const Tensor& table = require("embedding.weight");
    const float factor = embedding_scale(config_);
    add_token_table("token_embd.weight", table, factor, config_.tokens.unknown);
    add_position_table();
    if (stack_.positions == Positions::rotary &&
        stack_.rotary.scaling == ops::RotaryScaling::llama3) {
      add_rotary_factors();
    }
  }

  // Of GPT-2: the rows from the offset on; sinusoids as far as the context; zeros without
  // positions.
  void add_position_table() {
    if (architecture_.name != "gpt2") return;
    const Index rows = config_.max_positions, cols = stack_.model_dim;
    Tensor table;
    if (stack_.positions == Positions::learned) {
      table = require("decoder.positions.weight");
    } else if (stack_.positions == Positions::sinusoidal) {
      table =
          nn::shared_sinusoidal_table(stack_.position_offset + rows, cols, stack_.sinusoid_order);
    } else {
      table = Tensor::zeros({stack_.position_offset + rows, cols});
    }
    const Index first = stack_.position_offset * cols;
    file_.tensor("position_embd.weight", {rows, cols}, io::GgufType::f32, [=] {
      const float* begin = table.data() + first;
      return Numbers(begin, begin + rows * cols);
    });
  }

  // What each pair's frequency is divided by.
  void add_rotary_factors() {
    ops::RotaryFrequencies scaled = stack_.rotary, plain = stack_.rotary;
    scaled.dim = plain.dim = head_dim_;
    plain.scaling = ops::RotaryScaling::none;
    const std::vector<double> ours = ops::rotary_periods(scaled),
                              usual = ops::rotary_periods(plain);
    Numbers factors;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      factors.push_back(static_cast<float>(ours[i] / usual[i]));
    }
    add_vector("rope_freqs.weight", std::move(factors));
  }

  void add_block(Index layer) {
    const std::string ours = fmt::format("decoder.{}.", layer);
    const std::string name = fmt::format("blk.{}.", layer);
    add_norm(ours + "self_attention_norm", name + "attn_norm");
    add_attention(layer, ours + "self_attention.", name);
    add_norm(ours + "feed_forward_norm", name + "ffn_norm");
    add_linear(ours + "feed_forward.hidden", name + "ffn_up");
    if (find(ours + "feed_forward.gate.weight")) {
      add_linear(ours + "feed_forward.gate", name + "ffn_gate");
    }
    add_linear(ours + "feed_forward.output", name + "ffn_down");
  }

  // The other program multiplies scores by 1 / sqrt(K); queries get the rest of ours.
  float query_factor(Index layer) const {
    const float root = std::sqrt(static_cast<float>(head_dim_));
    const float own = config_.similarity == ops::Similarity::dot ? root : 1;
    const float factor = stack_.attention_scale ? *stack_.attention_scale * root : own;
    return config_.has_layer_scale ? factor / static_cast<float>(layer + 1) : factor;
  }

  // A part of attention: its matrix or its bias, in the form of the file.
  struct Projection {
    std::string ours;
    Index num_heads;
    float factor;
    bool is_rotated;
  };

  Numbers in_form(const Projection& projection, Numbers numbers, Index row) const {
    if (projection.factor != 1) numbers = scale(std::move(numbers), projection.factor);
    const bool is_moved = projection.is_rotated && architecture_.has_rotary_neighbours;
    return is_moved ? as_neighbours(numbers, projection.num_heads, row) : numbers;
  }

  void add_attention(Index layer, const std::string& ours, const std::string& name) {
    // A norm of queries would undo what its input is multiplied by.
    const float factor = query_factor(layer);
    const Projection query{ours + "query", stack_.num_heads,
                           config_.has_query_key_norm ? 1 : factor, true};
    const Projection key{ours + "key", num_key_value_heads_, 1, true};
    const Projection value{ours + "value", num_key_value_heads_, 1, false};
    if (architecture_.has_fused_attention) {
      add_projections({query, key, value}, name + "attn_qkv");
    } else {
      add_projections({query}, name + "attn_q");
      add_projections({key}, name + "attn_k");
      add_projections({value}, name + "attn_v");
    }
    if (config_.has_query_key_norm) {
      add_norm(ours + "query_norm", name + "attn_q_norm", factor);
      add_norm(ours + "key_norm", name + "attn_k_norm");
    }
    add_linear(ours + "output", name + "attn_output");
  }

  // Matrices of the same input, one below the other.
  void add_projections(const std::vector<Projection>& projections, const std::string& name) {
    const Index cols = stack_.model_dim;
    Index rows = 0;
    Numbers all_biases;
    for (const Projection& projection : projections) {
      const Index its_rows = projection.num_heads * head_dim_;
      rows += its_rows;
      auto values = bias(projection.ours, its_rows);
      if (!values) continue;
      const Numbers formed = in_form(projection, std::move(*values), 1);
      all_biases.insert(all_biases.end(), formed.begin(), formed.end());
    }
    add_matrix(name + ".weight", rows, cols, [this, projections, cols] {
      Numbers all;
      for (const Projection& projection : projections) {
        const Numbers formed =
            in_form(projection, numbers_of(require(projection.ours + ".weight")), cols);
        all.insert(all.end(), formed.begin(), formed.end());
      }
      return all;
    });
    if (!all_biases.empty()) add_vector(name + ".bias", std::move(all_biases));
  }

  // A tied output without a matrix of its own would have the scale of the embeddings, too.
  void add_output() {
    add_norm("decoder.norm", "output_norm");
    const Tensor* own = find("output.weight");
    const float factor = config_.output_scale;
    const bool can_be_tied = factor == 1 && embedding_scale(config_) == 1 && num_added_ == 0;
    if (!own && !architecture_.needs_output && can_be_tied) return;
    const Tensor& table = own ? *own : require("embedding.weight");
    add_token_table("output.weight", table, factor, config_.tokens.pad);
  }

  const TransformerConfig config_;
  const GgufArchitecture architecture_;
  const GgufOptions options_;
  const nn::TransformerOptions stack_;
  Index head_dim_ = 0;
  Index num_key_value_heads_ = 0;
  Index num_added_ = 0;  // tokens of bytes that the model does not have
  std::map<std::string, Tensor> parameters_;
  io::GgufWriter file_;
};

}  // namespace

std::vector<std::string> export_gguf(const LanguageModel& model, const GgufVocabulary& vocabulary,
                                     const std::string& path, const GgufOptions& options) {
  GgufExport file(model, options);
  file.write(vocabulary, path);
  return file.notes();
}

}  // namespace heed::models
