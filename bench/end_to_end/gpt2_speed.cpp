// Throughput of a decoder-only model of the GPT-2-small shape, with random weights.
//
//   gpt2_speed train THREADS [UPDATES]           4 sequences of 256 tokens, AdamW included
//   gpt2_speed decode THREADS [TOKENS [FORMAT [PROMPT]]]
//                                                one sequence, token by token after a prompt
//
// `train` prints tokens per second, one line per update. `decode` first packs the weights in FORMAT
// (f32 by default, f16, bf16, int8 or int4). It prints the tokens per second of a prompt of PROMPT
// tokens (512), of the tokens that follow, and the gigabytes that each token reads: the weights and
// the KV cache.
#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/kernels/weight_format.h"
#include "heed/models/transformer_config.h"
#include "heed/nn/embedding.h"
#include "heed/nn/output_projection.h"
#include "heed/nn/packing.h"
#include "heed/nn/transformer_stack.h"
#include "heed/ops/packed_matrix.h"
#include "heed/ops/projection_cross_entropy.h"
#include "heed/train/optimizer.h"
#include "support/process_memory.h"
#include "support/samples.h"

namespace heed {
namespace {

constexpr int vocabulary = 50257;

// Radford et al. 2019, the smallest of the four: 124 million parameters.
nn::TransformerOptions gpt2_small() {
  return {.num_layers = 12,
          .model_dim = 768,
          .feed_forward_dim = 3072,
          .num_heads = 12,
          .max_positions = 1024,
          .norm_place = nn::NormPlace::before,
          .positions = nn::Positions::learned,
          .activation = nn::Activation::gelu,
          .is_causal = true};
}

std::vector<int> random_ids(Index count, Rng& rng) {
  std::vector<int> ids(count);
  for (int& id : ids) id = static_cast<int>(rng.below(vocabulary));
  return ids;
}

class LanguageModel {
 public:
  explicit LanguageModel(Rng& rng)
      : embedding_(vocabulary, gpt2_small().model_dim, rng), stack_("decoder", gpt2_small(), rng) {}

  // The loss summed over all tokens: N ids, and the N next ids.
  Tensor loss(std::span<const int> ids, const Spans& spans, std::span<const int> next) const {
    auto context = nn::ForwardContext::training(1, 1);
    const Tensor hidden = stack_.forward({embedding_.forward(ids), spans}, context);  // [N, D]
    return nn::OutputProjection().loss(hidden, embedding_.weight(), next, 0).loss;
  }

  void pack(WeightFormat format) {
    if (format == WeightFormat::f32) {
      nn::pack_weights(*this);
    } else {
      nn::quantize_weights(*this, format);
    }
  }
  nn::StackCache start() const { return stack_.start(1); }
  // The most likely next token after `ids`, which continue the cached tokens; for a packed model.
  int next_token(std::span<const int> ids, nn::StackCache& cache) const {
    const NoGrad no_grad;
    auto context = nn::ForwardContext::inference();
    const Index length = static_cast<Index>(ids.size());
    const Tensor hidden =
        stack_.step({embedding_.forward(ids), Spans::single(length)}, cache, context);
    const Index dim = hidden.dim(-1);
    const Tensor last = Tensor::from(hidden.values().last(dim), {1, dim});
    const Tensor logits = nn::OutputProjection().logits(last, embedding_.weight());  // [1, V]
    return static_cast<int>(std::ranges::max_element(logits.values()) - logits.values().begin());
  }

  void visit_parameters(nn::ParameterVisitor& visitor) {
    visitor.child("embedding", embedding_);
    visitor.child("decoder", stack_);
  }

 private:
  nn::Embedding embedding_;  // also the output projection
  nn::TransformerStack stack_;
};

// Parameters read per token: all but the positions, of which it reads one row. The embedding counts
// as the output projection.
double num_weights_read(LanguageModel& model) {
  Index count = 0;
  for (const nn::NamedTensor& parameter : nn::named_parameters(model)) {
    if (!parameter.name.ends_with("positions.weight")) count += parameter.value.size();
  }
  return static_cast<double>(count);
}

// The same in bytes, for a packed model.
double num_bytes_read(LanguageModel& model) {
  struct Counter : nn::ParameterVisitor {
    Index bytes = 0;
    void visit(const std::string& name, Tensor& value) override {
      if (!name.ends_with("positions.weight")) bytes += value.size() * Index{sizeof(float)};
    }
    void visit_weight(const std::string&, nn::Weight& weight) override {
      const ops::PackedMatrix& packed = weight.packed;
      const Index row_scales = kernels::weight_row_scales(packed.format(), packed.in_dim());
      bytes += packed.out_dim() * (kernels::weight_row_bytes(packed.format(), packed.in_dim()) +
                                   row_scales * Index{sizeof(float)});
    }
  } counter;
  model.visit_parameters(counter);
  return static_cast<double>(counter.bytes);
}

// Bytes of the keys and values of `num_tokens` tokens, in all layers.
double num_cached_numbers(double num_tokens) {
  const nn::TransformerOptions shape = gpt2_small();
  return 2 * num_tokens * static_cast<double>(shape.num_layers * shape.model_dim);
}

// FLOP per token in sequences of this length: one multiply-add forward and two backward for each
// weight, and for each element of every vector in each cell of causal attention.
double training_work(LanguageModel& model, double length) {
  const nn::TransformerOptions shape = gpt2_small();
  const double cells = (length + 1) / 2 * static_cast<double>(shape.num_layers);
  return 2 * 3 * (num_weights_read(model) + 2 * cells * static_cast<double>(shape.model_dim));
}

void measure_training(int num_updates) {
  Rng rng(1);
  LanguageModel model(rng);
  std::vector<nn::NamedTensor> parameters = nn::named_parameters(model);
  for (nn::NamedTensor& parameter : parameters) parameter.value.require_gradient();
  train::Optimizer optimizer(
      parameters, {.kind = train::OptimizerKind::adamw, .beta2 = 0.999, .weight_decay = 0.01});
  const Spans spans = Spans::of_lengths(std::vector<Index>(4, 256));
  const Index num_tokens = spans.num_tokens();
  const std::vector<int> ids = random_ids(num_tokens, rng), next = random_ids(num_tokens, rng);
  const auto update = [&] {
    backward(model.loss(ids, spans, next));
    optimizer.step(1e-4, 1.0 / static_cast<double>(num_tokens));
    optimizer.clear_gradients();
  };
  update();
  for (int i = 0; i < num_updates; ++i) {
    const double seconds = seconds_of(update);
    std::cout << "tokens_per_second " << static_cast<double>(num_tokens) / seconds << std::endl;
  }
  std::cout << "gflop_per_token " << 1e-9 * training_work(model, 256) << '\n';
  std::cout << "peak_megabytes " << peak_resident_bytes() / 1e6 << '\n';
}

void measure_decoding(int num_tokens, WeightFormat format, Index prompt_length) {
  check(num_tokens > 0 && prompt_length > 0, "expected at least one token after a prompt of at ",
        "least one, got ", num_tokens, " after ", prompt_length);
  Rng rng(1);
  LanguageModel model(rng);
  model.pack(format);
  const std::vector<int> prompt = random_ids(prompt_length, rng);
  int token = 0;
  nn::StackCache cache = model.start();
  model.next_token(prompt, cache);  // warm-up
  cache = model.start();
  const double prompt_seconds = seconds_of([&] { token = model.next_token(prompt, cache); });
  const double seconds = seconds_of([&] {
    for (int i = 0; i < num_tokens; ++i) token = model.next_token(std::vector{token}, cache);
  });
  const auto prompt_tokens = static_cast<double>(prompt_length);
  std::cout << "prompt_tokens_per_second " << prompt_tokens / prompt_seconds << '\n';
  std::cout << "tokens_per_second " << num_tokens / seconds << '\n';
  const double mean_past = prompt_tokens + 0.5 * num_tokens;
  const double bytes_read = num_bytes_read(model) + sizeof(float) * num_cached_numbers(mean_past);
  std::cout << "gigabytes_per_token " << 1e-9 * bytes_read << '\n';
}

}  // namespace
}  // namespace heed

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  const std::string command = args.empty() ? "" : args[0];
  const bool is_usable = (command == "train" && (args.size() == 2 || args.size() == 3)) ||
                         (command == "decode" && args.size() >= 2 && args.size() <= 5);
  if (!is_usable) {
    std::cerr << "usage: gpt2_speed train THREADS [UPDATES]\n"
                 "       gpt2_speed decode THREADS [TOKENS [FORMAT [PROMPT]]]\n";
    return 2;
  }
  try {
    heed::set_num_threads(std::stoi(args[1]));
    if (command == "train") {
      heed::measure_training(args.size() > 2 ? std::stoi(args[2]) : 2);
    } else {
      const std::string format = args.size() > 3 ? args[3] : "f32";
      heed::measure_decoding(args.size() > 2 ? std::stoi(args[2]) : 128,
                             heed::parse_choice<heed::WeightFormat>(format, "gpt2_speed"),
                             args.size() > 4 ? std::stoi(args[4]) : 512);
    }
  } catch (const std::exception& error) {
    std::cerr << "gpt2_speed: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
