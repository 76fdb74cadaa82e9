// Time and memory of attention alone: 8 heads of 64, one sequence.
//
//   attention_bench LENGTH causal|full forward|backward THREADS [SAMPLES]
//
// `backward` is a forward and a backward pass with gradients for query, key and value. Prints the
// seconds per call, one line per sample (5); the GFLOP of its matrix products, half for a causal
// mask; and the peak resident memory that the calls add.
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/ops/attention.h"
#include "support/process_memory.h"
#include "support/samples.h"

namespace heed {
namespace {

constexpr Index num_heads = 8, head_dim = 64, width = num_heads * head_dim;

struct AttentionCase {
  Index length = 0;
  bool is_causal = false;
  bool with_backward = false;

  // Two products of length x length x head_dim per head forward, four backward.
  double gflop() const {
    const double cells = static_cast<double>(length) * static_cast<double>(length);
    return 4e-9 * cells * width * (is_causal ? 0.5 : 1) * (with_backward ? 3 : 1);
  }
};

void measure(const AttentionCase& shape, int num_samples) {
  Rng rng(1);
  const auto random_rows = [&] { return Tensor::randn({shape.length, width}, rng); };
  Tensor query = random_rows(), key = random_rows(), value = random_rows();
  const Tensor gradient = random_rows();
  const Spans spans = Spans::single(shape.length);
  const auto mask =
      shape.is_causal ? ops::AttentionMask::causal_mask() : ops::AttentionMask::none();
  const ops::AttentionOptions options{.num_heads = num_heads};
  if (shape.with_backward) {
    for (Tensor* input : {&query, &key, &value}) input->require_gradient();
  }

  const auto call = [&] {
    for (Tensor* input : {&query, &key, &value}) {
      if (shape.with_backward) input->clear_gradient();
    }
    Tensor mixed = ops::attention({query, spans}, {key, spans}, value, mask, options);
    if (shape.with_backward) backward(std::move(mixed), gradient);
  };
  const double before = resident_bytes();
  reset_peak_resident();
  for (const double seconds : seconds_per_call(num_samples, call)) {
    std::cout << "seconds " << seconds << '\n';
  }
  std::cout << "gflop " << shape.gflop() << '\n';
  std::cout << "extra_megabytes " << (peak_resident_bytes() - before) / 1e6 << '\n';
}

}  // namespace
}  // namespace heed

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (args.size() < 4 || args.size() > 5 || (args[1] != "causal" && args[1] != "full") ||
      (args[2] != "forward" && args[2] != "backward")) {
    std::cerr << "usage: attention_bench LENGTH causal|full forward|backward THREADS [SAMPLES]\n";
    return 2;
  }
  try {
    heed::set_num_threads(std::stoi(args[3]));
    heed::measure({.length = std::stol(args[0]),
                   .is_causal = args[1] == "causal",
                   .with_backward = args[2] == "backward"},
                  args.size() == 5 ? std::stoi(args[4]) : 5);
  } catch (const std::exception& error) {
    std::cerr << "attention_bench: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
