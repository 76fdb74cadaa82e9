// The speed of this machine, for estimates of what a run can do in its time.
#pragma once

namespace heed::train {

// Floating-point operations per second in matrix products, with the threads that training uses.
// Takes about 50 milliseconds.
double matmul_speed();

}  // namespace heed::train
