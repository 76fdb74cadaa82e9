#include "heed/train/environment.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/base/version.h"
#include "heed/kernels/targets.h"

namespace heed::train {
namespace {

TEST(Environment, SaysWhatBitsDependOn) {
  const Environment here = current_environment();
  EXPECT_EQ(here.heed, version);
  EXPECT_EQ(here.instruction_set, kernels::dispatched_target());
  EXPECT_FALSE(here.c_library.empty());
  EXPECT_FALSE(here.compiler.empty());
  EXPECT_EQ(to_string({"1.2.3", "AVX2", "glibc 2.36", "GCC 12.2.0"}),
            "Heed 1.2.3, AVX2, glibc 2.36, GCC 12.2.0");
}

TEST(Environment, IsReadAsItWasWritten) {
  const Environment here = current_environment();
  EXPECT_EQ(environment_from_json(to_json(here), "test"), here);
  EXPECT_THROW(environment_from_json("{}", "test"), Error);
}

}  // namespace
}  // namespace heed::train
