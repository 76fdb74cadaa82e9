#include "heed/models/stored_weights.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/half.h"
#include "heed/base/printable.h"
#include "heed/models/finite_weights.h"
#include "heed/models/transformer_config.h"
#include "heed/ops/matrix_packer.h"

namespace heed::models {
namespace {

// The bytes of a matrix in f16 or bf16, from its number `offset` on; integers are finite.
void check_finite_halves(std::span<const std::uint8_t> bytes, WeightFormat format,
                         const std::string& name, const std::string& file, Index offset) {
  const bool is_f16 = format == WeightFormat::f16;
  if (!is_f16 && format != WeightFormat::bf16) return;
  const std::span halves(reinterpret_cast<const std::uint16_t*>(bytes.data()), bytes.size() / 2);
  const auto place = first_not_finite(halves, is_f16 ? float16_exponent : bfloat16_exponent);
  if (!place) return;
  fail_not_finite((is_f16 ? float16_to_float : bfloat16_to_float)(halves[*place]), offset + *place,
                  name, file);
}

io::DType dtype_of(WeightFormat format) {
  switch (format) {
    case WeightFormat::f32:
      return io::DType::f32;
    case WeightFormat::f16:
      return io::DType::f16;
    case WeightFormat::bf16:
      return io::DType::bf16;
    case WeightFormat::int8:
      return io::DType::i8;
    case WeightFormat::int4:
      return io::DType::u8;
  }
  return io::DType::f32;  // not reached: the enum has no other value
}

Shape stored_shape(WeightFormat format, Index rows, Index cols) {
  return {rows, format == WeightFormat::int4 ? kernels::weight_row_bytes(format, cols) : cols};
}

Shape scale_shape(WeightFormat format, Index rows, Index cols) {
  if (format == WeightFormat::int8) return {rows};
  return {rows, kernels::weight_row_scales(format, cols)};
}

bool has_scales(WeightFormat format) { return kernels::weight_row_scales(format, 1) > 0; }

std::string scale_name(const std::string& name) { return name + ".scale"; }

std::vector<std::int64_t> sizes_of(const Shape& shape) {
  return {shape.sizes().begin(), shape.sizes().end()};
}

// Records of numbers that live as long as this does.
class QuantizedRecords {
 public:
  void add(std::vector<io::TensorRecord>& records, const nn::NamedTensor& weight,
           WeightFormat format) {
    const ops::QuantizedMatrix& quantized =
        matrices_.emplace_back(ops::quantize(weight.value, format));
    records.push_back({weight.name, dtype_of(format),
                       sizes_of(stored_shape(format, quantized.rows, quantized.cols)),
                       std::as_bytes(std::span(quantized.values))});
    if (!has_scales(format)) return;
    records.push_back(io::float_record(
        scale_name(weight.name), sizes_of(scale_shape(format, quantized.rows, quantized.cols)),
        quantized.scales));
  }

 private:
  std::deque<ops::QuantizedMatrix> matrices_;  // a deque, so that they stay where they are
};

}  // namespace

Shape shape_of(const io::TensorRecord& record, const std::string& file) {
  check_as(ErrorKind::model, record.shape.size() <= Shape::max_rank, file, ": ",
           excerpt(record.name), ": expected at most ", Shape::max_rank, " axes, found ",
           record.shape.size());
  return Shape(record.shape);
}

void check_rounding(WeightFormat from, WeightFormat to, const std::string& where) {
  const bool is_rounded = has_scales(from);
  check_as(ErrorKind::model, !is_rounded || to == from || to == WeightFormat::f32, where,
           ": expected weights of f32, f16 or bf16 to make ", name_of(to), " of, found ",
           name_of(from));
}

void write_weights(const std::string& path, std::span<const nn::NamedTensor> parameters,
                   WeightFormat format) {
  check_finite(parameters, path);
  QuantizedRecords quantized;
  std::vector<io::TensorRecord> records;
  for (const nn::NamedTensor& parameter : parameters) {
    if (format != WeightFormat::f32 && parameter.can_be_quantized) {
      quantized.add(records, parameter, format);
    } else {
      records.push_back(io::float_record(parameter.name, sizes_of(parameter.value.shape()),
                                         parameter.value.values()));
    }
  }
  io::write_safetensors(path, records, {{"format", "pt"}});
}

io::TensorRecord FileTensors::require(const std::string& name) {
  names_.insert(name);
  return file_.require(name);
}

void FileTensors::check_nothing_left() const {
  for (const io::TensorRecord& record : file_.tensors()) {
    check_as(ErrorKind::model, names_.contains(record.name), file_.source(),
             ": expected the parameters of the model, found also ", excerpt(record.name));
  }
}

namespace {

// The rows of a stored weight, some at a time, in any format.
class StoredRows {
 public:
  StoredRows(WeightFormat format, const io::TensorRecord& record, const Shape& shape,
             std::span<const float> scales, std::string file)
      : format_(format),
        record_(record),
        shape_(shape),
        scales_(scales),
        file_(std::move(file)),
        row_bytes_(std::ssize(record.bytes) / std::max<Index>(1, shape.dim(0))) {}

  Index num_rows() const { return shape_.dim(0); }
  std::span<const std::byte> bytes(Index first, Index count) const {
    return record_.bytes.subspan(first * row_bytes_, count * row_bytes_);
  }

  // As they are, quantized.
  void append_to(ops::MatrixPacker& packer, Index first, Index count) const {
    const ops::QuantizedMatrix rows = quantized(first, count);
    packer.append(count, rows.values, rows.scales);
  }

  Tensor floats(Index first, Index count) const {
    if (format_ != WeightFormat::f32 && has_scales(format_)) {
      return ops::PackedMatrix(quantized(first, count)).dequantize();
    }
    io::TensorRecord part = record_;
    part.bytes = bytes(first, count);
    Tensor rows = Tensor::empty({count, cols()});
    io::copy_floats(part, rows.values(), file_);
    check_finite(rows.values(), record_.name, file_, first * cols());
    return rows;
  }

 private:
  Index cols() const { return shape_.dim(1); }

  ops::QuantizedMatrix quantized(Index first, Index count) const {
    const auto* from = reinterpret_cast<const std::uint8_t*>(bytes(first, count).data());
    const Index row_scales = kernels::weight_row_scales(format_, cols());
    const auto scales = scales_.subspan(first * row_scales, count * row_scales);
    ops::QuantizedMatrix rows{
        format_, count, cols(), {from, from + count * row_bytes_}, {scales.begin(), scales.end()}};
    check_finite_halves(rows.values, format_, record_.name, file_, first * cols());
    return rows;
  }

  WeightFormat format_;
  const io::TensorRecord& record_;
  Shape shape_;
  std::span<const float> scales_;
  std::string file_;
  Index row_bytes_;
};

// The format of the rows of a tensor, if they can be held as they are.
WeightFormat format_of(io::DType dtype, const WeightReading& reading) {
  if (reading.stored != WeightFormat::f32) return reading.stored;
  if (reading.packs && dtype == io::DType::f16) return WeightFormat::f16;
  if (reading.packs && dtype == io::DType::bf16) return WeightFormat::bf16;
  return WeightFormat::f32;
}

constexpr Index rows_per_chunk = 1024;

// Calls work(first, count) for all rows, then release(their bytes).
template <typename Work>
void for_each_chunk(const StoredRows& rows, Index chunk_rows, TensorSource& source, Work&& work) {
  for (Index first = 0; first < rows.num_rows(); first += chunk_rows) {
    const Index count = std::min(chunk_rows, rows.num_rows() - first);
    work(first, count);
    source.release(rows.bytes(first, count));
  }
}

ops::PackedMatrix packed(const StoredRows& rows, bool as_they_are, ops::MatrixPacker packer,
                         TensorSource& source) {
  for_each_chunk(rows, packer.chunk_rows(), source, [&](Index first, Index count) {
    if (as_they_are) return rows.append_to(packer, first, count);
    packer.append(rows.floats(first, count));
  });
  return packer.finish();
}

void dequantize(const StoredRows& rows, Tensor& to, TensorSource& source) {
  const Index cols = to.dim(1);
  for_each_chunk(rows, rows_per_chunk, source, [&](Index first, Index count) {
    const Tensor floats = rows.floats(first, count);
    std::ranges::copy(floats.values(), to.data() + first * cols);
  });
}

}  // namespace

void WeightReader::visit(const std::string& name, Tensor& value) {
  if (reading_.packs) value = Tensor::empty(value.shape());
  read_floats(name, value);
  // A model of quantized weights cannot be trained.
  if (reading_.held.value_or(reading_.stored) != WeightFormat::f32) value = value.detach();
}

void WeightReader::read_floats(const std::string& name, Tensor& value) {
  const io::TensorRecord stored = record(name, value.shape());
  io::copy_floats(stored, value.values(), source_.file_of(name));
  source_.release(stored.bytes);
  check_finite(value.values(), stored.name, source_.file_of(name));
}

void WeightReader::visit_weight(const std::string& name, nn::Weight& weight) {
  const bool is_f32 = reading_.held.value_or(reading_.stored) == WeightFormat::f32;
  if (is_f32 && reading_.stored == WeightFormat::f32 && !reading_.packs) {
    return visit(name, weight.values);
  }
  const Shape shape = weight.values.shape();
  const std::string file = source_.file_of(name);
  const Shape of_file = stored_shape(reading_.stored, shape.dim(0), shape.dim(1));
  io::TensorRecord stored = record(name, of_file);
  const WeightFormat format = format_of(stored.dtype, reading_);
  check_as(ErrorKind::model, format == WeightFormat::f32 || stored.dtype == dtype_of(format), file,
           ": ", name, ": expected ", io::dtype_name(dtype_of(format)), " for weights of ",
           name_of(format), ", found ", io::dtype_name(stored.dtype));
  const std::vector<float> scales = this->scales(name, shape);
  if (!scales.empty()) stored = record(name, of_file);  // the source has been asked for others
  const StoredRows rows(format, stored, shape, scales, file);
  if (is_f32 && !reading_.packs) return dequantize(rows, weight.values, source_);
  const WeightFormat held = reading_.held.value_or(format);
  weight = {Tensor(), packed(rows, held == format && held != WeightFormat::f32,
                             ops::MatrixPacker(held, shape.dim(0), shape.dim(1)), source_)};
}

io::TensorRecord WeightReader::record(const std::string& name, const Shape& shape) {
  io::TensorRecord stored = source_.require(name);
  const std::string file = source_.file_of(name);
  const Shape actual = shape_of(stored, file);
  check_as(ErrorKind::model, actual == shape, file, ": ", name, ": expected the shape ", shape,
           ", found ", actual);
  return stored;
}

std::vector<float> WeightReader::scales(const std::string& weight, const Shape& shape) {
  if (!has_scales(reading_.stored)) return {};
  const std::string name = scale_name(weight);
  Tensor scales = Tensor::empty(scale_shape(reading_.stored, shape.dim(0), shape.dim(1)));
  read_floats(name, scales);
  return {scales.values().begin(), scales.values().end()};
}

}  // namespace heed::models
