#include "heed/io/dtype.h"

#include <array>
#include <cassert>

namespace heed::io {
namespace {

struct Row {
  DType dtype;
  std::string_view name;
  std::size_t bytes;
};

// In the order of the enum.
constexpr std::array rows{
    Row{DType::boolean, "BOOL", 1}, Row{DType::u8, "U8", 1},     Row{DType::i8, "I8", 1},
    Row{DType::u16, "U16", 2},      Row{DType::i16, "I16", 2},   Row{DType::u32, "U32", 4},
    Row{DType::i32, "I32", 4},      Row{DType::u64, "U64", 8},   Row{DType::i64, "I64", 8},
    Row{DType::f16, "F16", 2},      Row{DType::bf16, "BF16", 2}, Row{DType::f32, "F32", 4},
    Row{DType::f64, "F64", 8}};

const Row& row(DType dtype) {
  const Row& entry = rows[static_cast<std::size_t>(dtype)];
  assert(entry.dtype == dtype);
  return entry;
}

}  // namespace

std::string_view dtype_name(DType dtype) { return row(dtype).name; }

std::size_t dtype_bytes(DType dtype) { return row(dtype).bytes; }

bool is_floating_point(DType dtype) {
  return dtype == DType::f16 || dtype == DType::bf16 || dtype == DType::f32 || dtype == DType::f64;
}

std::optional<DType> find_dtype(std::string_view name) {
  for (const Row& row : rows) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

}  // namespace heed::io
