// A number of rows as a constant, so that loops over rows unroll; compiled once per instruction
// set.
#if defined(HEED_KERNELS_DISPATCH_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_DISPATCH_ROWS_INL_H_
#undef HEED_KERNELS_DISPATCH_ROWS_INL_H_
#else
#define HEED_KERNELS_DISPATCH_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include "heed/base/index.h"

// Of the body's lambda. A call for each tile costs 2% of training a model of width 128.
#undef HEED_INLINE_LAMBDA
#define HEED_INLINE_LAMBDA HWY_ATTR __attribute__((always_inline))

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

// body.operator()<rows>() for rows in [1, max_rows]. max_rows is tested first: it is the
// one that a loop over whole tiles uses.
template <int max_rows, class Body>
HWY_INLINE void DispatchRows(Index rows, const Body& body) {
  if constexpr (max_rows > 1) {
    if (rows < max_rows) return DispatchRows<max_rows - 1>(rows, body);
  }
  body.template operator()<max_rows>();
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // target toggle
