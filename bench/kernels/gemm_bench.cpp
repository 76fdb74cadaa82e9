// GEMM on one thread, Heed and oneDNN, on the shapes of the tiny preset and of GPT-2 small.
#include <benchmark/benchmark.h>

#include "heed/base/random.h"
#include "heed/core/storage.h"
#include "heed/core/tensor.h"
#include "heed/kernels/gemm.h"
#ifdef HEED_HAS_DNNL
#include <dnnl.h>
#include <omp.h>
#endif

namespace heed {
namespace {

struct Product {
  Index m, n, k;
  Tensor a, b, c;  // b is stored [n, k], as weights are

  explicit Product(const benchmark::State& state)
      : m(state.range(0)), n(state.range(1)), k(state.range(2)) {
    Rng rng(1);
    a = Tensor::randn({m, k}, rng);
    b = Tensor::randn({n, k}, rng);
    c = Tensor::empty({m, n});
  }

  void report(benchmark::State& state) const {
    state.counters["FLOP/s"] = benchmark::Counter(2.0 * static_cast<double>(m * n * k),
                                                  benchmark::Counter::kIsIterationInvariantRate);
  }
};

void BM_Gemm(benchmark::State& state) {
  Product p(state);
  const auto packed = allocate_floats(kernels::gemm_packed_size(p.k, p.n));
  for (auto _ : state) {
    kernels::gemm_pack(packed.get(), {p.b.data(), 1, p.k}, p.k, p.n);
    kernels::gemm({p.c.data(), p.n}, {p.a.data(), p.k}, packed.get(), {p.m, p.n, p.k});
    benchmark::ClobberMemory();
  }
  p.report(state);
}

#ifdef HEED_HAS_DNNL
void BM_OneDnn(benchmark::State& state) {
  omp_set_num_threads(1);
  Product p(state);
  for (auto _ : state) {
    dnnl_sgemm('N', 'T', p.m, p.n, p.k, 1.0f, p.a.data(), p.k, p.b.data(), p.k, 0.0f, p.c.data(),
               p.n);
    benchmark::ClobberMemory();
  }
  p.report(state);
}
#endif

void shapes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"m", "n", "k"})
      ->Args({1, 128, 128})       // one decoding step, tiny
      ->Args({160, 128, 128})     // a step of 32 sentences, beam 5
      ->Args({4096, 128, 128})    // a projection of a training batch, tiny
      ->Args({4096, 256, 128})    // its feed-forward
      ->Args({256, 10000, 128})   // its output layer, a chunk of rows
      ->Args({4096, 512, 512})    // base
      ->Args({1024, 3072, 768});  // GPT-2 small
}
BENCHMARK(BM_Gemm)->Apply(shapes);
#ifdef HEED_HAS_DNNL
BENCHMARK(BM_OneDnn)->Apply(shapes);
#endif

}  // namespace
}  // namespace heed
