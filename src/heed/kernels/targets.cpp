#include "heed/kernels/targets.h"

#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/targets.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

std::int64_t Target() { return HWY_TARGET; }

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(Target);

const char* dispatched_target() noexcept {
  const std::int64_t target = HWY_DYNAMIC_DISPATCH(Target)();
  // Highway calls it AVX3.
  return target == HWY_AVX3 ? "AVX-512" : hwy::TargetName(target);
}

}  // namespace heed::kernels
#endif
