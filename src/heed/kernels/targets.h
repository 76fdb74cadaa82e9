// Instruction sets that the kernels are compiled for. Included before Highway by every kernel.
//
// AVX2, AVX-512 and NEON, and a plain fallback for everything else. The sets left out would only
// lengthen the build: they are older than AVX2, or differ from AVX-512 in nothing that we use, or
// have vectors of unknown size, which the micro-kernel of gemm-inl.h does not allow.
#pragma once

#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

namespace heed::kernels {

// The instruction set that the kernels use on this processor: "AVX2", "AVX-512", "NEON" ... Sums
// are taken by lanes, so the last bits of a result depend on it.
const char* dispatched_target() noexcept;

}  // namespace heed::kernels
