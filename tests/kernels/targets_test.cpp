#include "heed/kernels/targets.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace heed::kernels {
namespace {

TEST(DispatchedTarget, IsOneThatTheKernelsAreCompiledFor) {
  const std::set<std::string> known{"AVX-512", "AVX2", "SSE2", "NEON", "EMU128", "SCALAR"};
  EXPECT_TRUE(known.contains(dispatched_target())) << dispatched_target();
}

}  // namespace
}  // namespace heed::kernels
