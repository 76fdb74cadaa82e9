// The limits of the machine: FMA peak and memory read bandwidth.
//
//   peak_bench THREADS
//
// The FMA peak is the best of several tries, because nothing goes beyond a limit. The bandwidth is
// the median: memory may be shared with other guests, and a rate reached for a moment is no limit
// that longer work could reach.
#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/core/storage.h"
#include "heed/kernels/targets.h"
#include "support/samples.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/peak_bench.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;

// Independent chains x = 0.999 x + 0.001, enough to hide the latency of the FMA.
template <int num_chains>
float ChainsOfMulAdd(std::int64_t rounds) {
  const FloatTag d;
  const auto factor = hn::Set(d, 0.999f), addend = hn::Set(d, 0.001f);
  hn::Vec<FloatTag> chains[num_chains];
  for (auto& chain : chains) chain = hn::Set(d, static_cast<float>(rounds));
  for (std::int64_t round = 0; round < rounds; ++round) {
    for (auto& chain : chains) chain = hn::MulAdd(chain, factor, addend);
  }
  auto sum = chains[0];
  for (int chain = 1; chain < num_chains; ++chain) sum = hn::Add(sum, chains[chain]);
  return hn::GetLane(hn::SumOfLanes(d, sum));
}
// 12 fit into 16 registers; 24 hide the latency of processors that have 32 and more units.
float FewChains(std::int64_t rounds) { return ChainsOfMulAdd<12>(rounds); }
float ManyChains(std::int64_t rounds) { return ChainsOfMulAdd<24>(rounds); }
std::int64_t Lanes() { return static_cast<std::int64_t>(hn::Lanes(FloatTag())); }

float SumOfFloats(const float* values, std::int64_t count) {
  const FloatTag d;
  constexpr int num_chains = 8;
  const auto lanes = Lanes();
  hn::Vec<FloatTag> sums[num_chains];
  for (auto& sum : sums) sum = hn::Zero(d);
  for (std::int64_t i = 0; i + num_chains * lanes <= count; i += num_chains * lanes) {
    for (int chain = 0; chain < num_chains; ++chain) {
      sums[chain] = hn::Add(sums[chain], hn::LoadU(d, values + i + chain * lanes));
    }
  }
  for (int chain = 1; chain < num_chains; ++chain) sums[0] = hn::Add(sums[0], sums[chain]);
  return hn::GetLane(hn::SumOfLanes(d, sums[0]));
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {
namespace {

HWY_EXPORT(FewChains);
HWY_EXPORT(ManyChains);
HWY_EXPORT(Lanes);
HWY_EXPORT(SumOfFloats);

// Results go here, so the compiler does not eliminate the work.
std::vector<float> results;

double best(const std::vector<double>& samples) { return *std::ranges::min_element(samples); }

double median(std::vector<double> samples) {
  std::ranges::sort(samples);
  return samples[samples.size() / 2];
}

double fma_gflops() {
  constexpr Index num_pieces = 64;
  constexpr std::int64_t few_rounds = 400'000, many_rounds = 200'000;
  results.resize(num_pieces);
  const auto run = [&](auto chains, std::int64_t rounds) {
    return best(seconds_per_call(7, [&] {
      parallel_for(num_pieces, [&](Index piece) { results[piece] = chains(rounds); });
    }));
  };
  const double seconds = std::min(run(HWY_DYNAMIC_DISPATCH(FewChains), few_rounds),
                                  run(HWY_DYNAMIC_DISPATCH(ManyChains), many_rounds));
  const double multiply_adds =
      12.0 * few_rounds * static_cast<double>(num_pieces * HWY_DYNAMIC_DISPATCH(Lanes)());
  return 2e-9 * multiply_adds / seconds;
}

double read_gigabytes_per_second() {
  constexpr Index num_pieces = 64, piece_size = Index{1} << 20;  // 256 MB: beyond every cache
  const auto values = allocate_floats(num_pieces * piece_size);
  std::fill_n(values.get(), num_pieces * piece_size, 1.0f);
  results.resize(num_pieces);
  const double seconds = median(seconds_per_call(9, [&] {
    parallel_for(num_pieces, [&](Index piece) {
      results[piece] =
          HWY_DYNAMIC_DISPATCH(SumOfFloats)(values.get() + piece * piece_size, piece_size);
    });
  }));
  return 1e-9 * static_cast<double>(num_pieces * piece_size) * sizeof(float) / seconds;
}

}  // namespace
}  // namespace heed

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: peak_bench THREADS\n";
    return 2;
  }
  heed::set_num_threads(std::stoi(argv[1]));
  std::cout << "fma_gflops " << heed::fma_gflops() << std::endl;
  std::cout << "read_gigabytes_per_second " << heed::read_gigabytes_per_second() << std::endl;
  return 0;
}
#endif
