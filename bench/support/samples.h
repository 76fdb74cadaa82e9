// Seconds per call, measured several times.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace heed {

template <typename Work>
double seconds_of(Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// `count` samples, each the mean over as many calls as fit into about a tenth of a second. The
// first call is a warm-up, unless it is very slow: then it counts as a sample.
template <typename Work>
std::vector<double> seconds_per_call(int count, Work&& work) {
  constexpr double sample_seconds = 0.1, long_seconds = 15;
  const double first = seconds_of(work);
  std::vector<double> samples;
  if (first > long_seconds) samples.push_back(first);
  const double once = first > sample_seconds ? first : seconds_of(work);
  const int calls = std::max(1, static_cast<int>(sample_seconds / once));
  while (static_cast<int>(samples.size()) < count) {
    const double seconds = seconds_of([&] {
      for (int call = 0; call < calls; ++call) work();
    });
    samples.push_back(seconds / calls);
  }
  return samples;
}

}  // namespace heed
