// Arrays for NumPy.
#pragma once

#include <span>
#include <string>

namespace heed::io {

// Writes a .npy file (version 1.0) of 32-bit floats, row by row: [rows, cols]. Replaces the file in
// one step.
void write_npy(const std::string& path, std::span<const float> values, std::size_t rows,
               std::size_t cols);

}  // namespace heed::io
