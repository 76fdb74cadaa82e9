// The parameters of a model in a safetensors file, with weights in any format.
//
// f16 and bf16 are tensors of that type. int8 is I8 and beside it NAME.scale, F32 [rows]. int4 is
// U8 [rows, columns / 2] and beside it NAME.scale, F32 [rows, columns / 32], both rounded up.
#pragma once

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

// Replaces the file in one step. Refuses (ErrorKind::model) weights that are not finite.
void write_weights(const std::string& path, std::span<const nn::NamedTensor> parameters,
                   WeightFormat format);

// Fills the parameters that it visits. Refuses (ErrorKind::model) a tensor that is missing, has
// another shape or type, or holds numbers that are not finite.
class WeightReader : public nn::ParameterVisitor {
 public:
  WeightReader(const io::SafetensorsFile& file, WeightFormat format)
      : file_(file), format_(format) {}

  void check_nothing_left() const;  // refuses tensors that no visited parameter has

 protected:
  void visit(const std::string& name, Tensor& value) override;
  void visit_weight(const std::string& name, nn::Weight& weight) override;

 private:
  io::TensorRecord record(const std::string& name, const Shape& shape);
  ops::QuantizedMatrix quantized_matrix(const std::string& name, Index rows, Index cols);
  std::vector<float> scales(const std::string& weight, Index rows, Index cols);

  const io::SafetensorsFile& file_;
  WeightFormat format_;
  std::set<std::string> names_;
};

// All parameters of a model from the file. Refuses also tensors that the model does not have.
template <typename Model>
void read_weights(Model& model, const io::SafetensorsFile& file, WeightFormat format) {
  WeightReader reader(file, format);
  model.visit_parameters(reader);
  reader.check_nothing_left();
}

}  // namespace heed::models
