// The parameters of a model in a safetensors file, with weights in any format.
//
// f16 and bf16 are tensors of that type. int8 is I8 and beside it NAME.scale, F32 [rows]. int4 is
// U8 [rows, columns / 2] and beside it NAME.scale, F32 [rows, columns / 32], both rounded up.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "heed/io/safetensors.h"
#include "heed/nn/module.h"
#include "heed/ops/quantized_matrix.h"

namespace heed::models {

// The shape of a tensor in this file. Refuses (ErrorKind::model) more axes than tensors have.
Shape shape_of(const io::TensorRecord& record, const std::string& file);

// Refuses (ErrorKind::model) to round weights of int8 or int4 again: the errors would add up.
// `where` begins the message.
void check_rounding(WeightFormat from, WeightFormat to, const std::string& where);

// Replaces the file in one step. Refuses (ErrorKind::model) weights that are not finite.
void write_weights(const std::string& path, std::span<const nn::NamedTensor> parameters,
                   WeightFormat format);

// Where the tensors of a model come from, by the names of its parameters.
class TensorSource {
 public:
  virtual ~TensorSource() = default;

  // The tensor in the type of the file. Refuses (ErrorKind::model) one that is not there. Its bytes
  // are valid until the next call.
  virtual io::TensorRecord require(const std::string& name) = 0;
  // The bytes, part of a tensor's, have been read and are not needed any more. Refuses
  // (ErrorKind::model) bytes that were not the file's.
  virtual void release(std::span<const std::byte> bytes) = 0;
  // What messages about the tensor name.
  virtual std::string file_of(const std::string& name) const = 0;
};

// The tensors of one file, which has them under these names.
class FileTensors : public TensorSource {
 public:
  explicit FileTensors(const io::SafetensorsFile& file) : file_(file) {}

  io::TensorRecord require(const std::string& name) override;
  void release(std::span<const std::byte> bytes) override { file_.release(bytes); }
  std::string file_of(const std::string&) const override { return file_.source(); }

  void check_nothing_left() const;  // refuses tensors that nobody has required

 private:
  const io::SafetensorsFile& file_;
  std::set<std::string> names_;
};

struct WeightReading {
  // The format of the weights in the file. f32: any floating-point type.
  WeightFormat stored = WeightFormat::f32;
  // The format to hold them in: not given, that of the file.
  std::optional<WeightFormat> held = std::nullopt;
  // For inference: holds weights packed only, halves as they are, and fills meta tensors.
  bool packs = false;
};

// Fills the parameters that it visits. Refuses (ErrorKind::model) a tensor that is missing, has
// another shape or type, or holds numbers that are not finite.
class WeightReader : public nn::ParameterVisitor {
 public:
  WeightReader(TensorSource& source, const WeightReading& reading)
      : source_(source), reading_(reading) {}

 protected:
  void visit(const std::string& name, Tensor& value) override;
  void visit_weight(const std::string& name, nn::Weight& weight) override;

 private:
  io::TensorRecord record(const std::string& name, const Shape& shape);
  std::vector<float> scales(const std::string& weight, const Shape& shape);
  void read_floats(const std::string& name, Tensor& value);

  TensorSource& source_;
  WeightReading reading_;
};

// All parameters of a model.
template <typename Model>
void read_weights(Model& model, TensorSource& tensors, const WeightReading& reading) {
  WeightReader reader(tensors, reading);
  model.visit_parameters(reader);
}

}  // namespace heed::models
