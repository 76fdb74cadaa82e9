// The environment of a run: what its bits depend on besides recipe, data and seed. The number of
// threads is not part of it.
#pragma once

#include <string>
#include <string_view>

namespace heed::train {

struct Environment {
  std::string heed;             // version
  std::string instruction_set;  // of the kernels: sums are taken by lanes
  std::string c_library;        // exp, log and sin of libm differ in their last bits
  std::string compiler;

  bool operator==(const Environment&) const = default;
};

Environment current_environment();

// "Heed 0.2.0, AVX2, glibc 2.36, GCC 12.2.0"
std::string to_string(const Environment& environment);

std::string to_json(const Environment& environment);
Environment environment_from_json(std::string_view text, const std::string& source);

}  // namespace heed::train
