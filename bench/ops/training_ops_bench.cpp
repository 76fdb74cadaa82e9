// The operations that dominate a training update of the tiny preset, each alone, on all threads
// (OMP_NUM_THREADS). As in an update, their inputs are cold: the benchmark cycles through more
// inputs than the caches hold.
#include <benchmark/benchmark.h>

#include <utility>
#include <vector>

#include "heed/base/random.h"
#include "heed/core/spans.h"
#include "heed/ops/attention.h"
#include "heed/ops/linear.h"
#include "heed/ops/linear_backward.h"
#include "heed/ops/projection_cross_entropy.h"

namespace heed {
namespace {

constexpr Index num_rows = 3700;   // about the target tokens of one of Multi30k's batches
constexpr std::size_t turns = 20;  // inputs

// Copies with the same values, each in its own memory.
std::vector<Tensor> random_tensors(std::size_t count, const Shape& shape) {
  Rng rng(1);
  const Tensor first = Tensor::randn(shape, rng);
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < count; ++i) tensors.push_back(first.clone());
  return tensors;
}

// Calls step(turn) for each turn in order. One untimed round first: the system zeroes new memory
// when it is first written to.
template <typename Step>
void take_turns(benchmark::State& state, Step step) {
  for (std::size_t turn = 0; turn < turns; ++turn) step(turn);
  std::size_t turn = 0;
  for (auto _ : state) {
    step(turn);
    turn = (turn + 1) % turns;
  }
}

void report_work(benchmark::State& state, double flop) {
  state.counters["FLOP/s"] =
      benchmark::Counter(flop, benchmark::Counter::kIsIterationInvariantRate);
}

void BM_LinearForward(benchmark::State& state) {
  const NoGrad no_grad;
  const Index in_dim = state.range(0), out_dim = state.range(1);
  const std::vector<Tensor> x = random_tensors(turns, {num_rows, in_dim});
  const Tensor weight = random_tensors(1, {out_dim, in_dim})[0], bias = Tensor::zeros({out_dim});
  std::vector<Tensor> y(turns);  // kept, so results go to new memory as well
  take_turns(state, [&](std::size_t turn) { y[turn] = ops::linear(x[turn], weight, bias); });
  report_work(state, 2.0 * static_cast<double>(num_rows * in_dim * out_dim));
}

void BM_LinearBackward(benchmark::State& state) {
  const Index in_dim = state.range(0), out_dim = state.range(1);
  const std::vector<Tensor> x = random_tensors(turns, {num_rows, in_dim});
  const std::vector<Tensor> dy = random_tensors(turns, {num_rows, out_dim});
  const Tensor weight = random_tensors(1, {out_dim, in_dim})[0];
  std::vector<Tensor> dx(turns);
  take_turns(state, [&](std::size_t turn) {
    dx[turn] = ops::linear_backward(dy[turn], x[turn], weight, {.wants_dbias = true}).dx;
  });
  report_work(state, 4.0 * static_cast<double>(num_rows * in_dim * out_dim));
}

void linear_shapes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"in", "out"})
      ->Args({128, 128})  // query, key, value and output of tiny
      ->Args({128, 256})  // its feed-forward
      ->Args({256, 128})
      ->Args({512, 512})  // base
      ->Args({512, 2048})
      ->UseRealTime();
}
BENCHMARK(BM_LinearForward)->Apply(linear_shapes);
BENCHMARK(BM_LinearBackward)->Apply(linear_shapes);

// Forward and backward: the gradients are computed with the loss.
void BM_OutputProjection(benchmark::State& state) {
  constexpr Index classes = 10000;
  const Index dim = state.range(0);
  Tensor x = random_tensors(1, {num_rows, dim})[0], weight = random_tensors(1, {classes, dim})[0];
  for (float& w : weight.values()) w *= 0.05f;
  x.require_gradient();
  weight.require_gradient();
  std::vector<int> targets;
  for (Index i = 0; i < num_rows; ++i) targets.push_back(static_cast<int>(i * 7 % classes));
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        ops::projection_cross_entropy(x, weight, Tensor(), targets, 0.1f).loss.item());
  }
  report_work(state, 6.0 * static_cast<double>(num_rows * classes * dim));
}
BENCHMARK(BM_OutputProjection)->ArgName("dim")->Arg(128)->Arg(512)->UseRealTime();

// Sentences of 8 to 20 tokens, 4 heads of 32.
void BM_AttentionOfSentences(benchmark::State& state) {
  const bool with_backward = state.range(0) == 1;
  constexpr std::size_t layers = 12;  // of the tiny preset: encoder, decoder and cross-attention
  Rng rng(2);
  std::vector<Index> lengths;
  Index rows = 0;
  for (; rows < num_rows; rows += lengths.back()) {
    lengths.push_back(static_cast<Index>(8 + rng.below(13)));
  }
  const Spans spans = Spans::of_lengths(lengths);
  std::vector<Tensor> inputs = random_tensors(3 * layers, {rows, 128});
  for (Tensor& input : inputs) input.require_gradient();
  const Tensor dy = random_tensors(1, {rows, 128})[0];
  for (auto _ : state) {
    std::vector<Tensor> y;
    for (std::size_t i = 0; i < layers; ++i) {
      y.push_back(ops::attention({inputs[3 * i], spans}, {inputs[3 * i + 1], spans},
                                 inputs[3 * i + 2], {}, {.num_heads = 4}));
    }
    while (with_backward && !y.empty()) {
      backward(std::move(y.back()), dy);
      y.pop_back();
    }
    for (Tensor& input : inputs) input.clear_gradient();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<Index>(layers) * rows);
}
BENCHMARK(BM_AttentionOfSentences)->ArgName("with_backward")->Arg(0)->Arg(1)->UseRealTime();

}  // namespace
}  // namespace heed
