#include "heed/models/stored_weights.h"

#include <deque>

#include "heed/base/error.h"
#include "heed/base/half.h"
#include "heed/base/printable.h"
#include "heed/models/finite_weights.h"
#include "heed/models/transformer_config.h"

namespace heed::models {
namespace {

// The bytes of a matrix in f16 or bf16; integers are finite.
void check_finite_halves(std::span<const std::uint8_t> bytes, WeightFormat format,
                         const std::string& name, const std::string& file) {
  const bool is_f16 = format == WeightFormat::f16;
  if (!is_f16 && format != WeightFormat::bf16) return;
  const std::span halves(reinterpret_cast<const std::uint16_t*>(bytes.data()), bytes.size() / 2);
  const auto place = first_not_finite(halves, is_f16 ? float16_exponent : bfloat16_exponent);
  if (!place) return;
  fail_not_finite((is_f16 ? float16_to_float : bfloat16_to_float)(halves[*place]), *place, name,
                  file);
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

void WeightReader::check_nothing_left() const {
  for (const io::TensorRecord& record : file_.tensors()) {
    check_as(ErrorKind::model, names_.contains(record.name), file_.source(),
             ": expected the parameters of the model, found also ", excerpt(record.name));
  }
}

void WeightReader::visit(const std::string& name, Tensor& value) {
  file_.copy_floats(record(name, value.shape()), value.values());
  check_finite(value.values(), name, file_.source());
  if (format_ != WeightFormat::f32) value = value.detach();  // a quantized model cannot be trained
}

void WeightReader::visit_weight(const std::string& name, nn::Weight& weight) {
  if (format_ == WeightFormat::f32) return visit(name, weight.values);
  const Index rows = weight.values.dim(0), cols = weight.values.dim(1);
  weight = {Tensor(), ops::PackedMatrix(quantized_matrix(name, rows, cols))};
}

io::TensorRecord WeightReader::record(const std::string& name, const Shape& shape) {
  io::TensorRecord stored = file_.require(name);
  const Shape actual = shape_of(stored, file_.source());
  check_as(ErrorKind::model, actual == shape, file_.source(), ": ", name, ": expected the shape ",
           shape, ", found ", actual);
  names_.insert(name);
  return stored;
}

ops::QuantizedMatrix WeightReader::quantized_matrix(const std::string& name, Index rows,
                                                    Index cols) {
  const io::TensorRecord stored = record(name, stored_shape(format_, rows, cols));
  check_as(ErrorKind::model, stored.dtype == dtype_of(format_), file_.source(), ": ", name,
           ": expected ", io::dtype_name(dtype_of(format_)), " for weights of ", name_of(format_),
           ", found ", io::dtype_name(stored.dtype));
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(stored.bytes.data());
  ops::QuantizedMatrix quantized{
      format_, rows, cols, {bytes, bytes + stored.bytes.size()}, scales(name, rows, cols)};
  check_finite_halves(quantized.values, format_, name, file_.source());
  return quantized;
}

std::vector<float> WeightReader::scales(const std::string& weight, Index rows, Index cols) {
  if (!has_scales(format_)) return {};
  const std::string name = scale_name(weight);
  std::vector<float> scales = file_.to_floats(record(name, scale_shape(format_, rows, cols)));
  check_finite(scales, name, file_.source());
  return scales;
}

}  // namespace heed::models
