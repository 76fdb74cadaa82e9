// The types of numbers in a file, under the names that safetensors gives them.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace heed::io {

enum class DType { boolean, u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64 };

std::string_view dtype_name(DType dtype);  // as in the file: "F32"
std::size_t dtype_bytes(DType dtype);      // of one element
bool is_floating_point(DType dtype);
std::optional<DType> find_dtype(std::string_view name);

}  // namespace heed::io
