// Model folders of Hugging Face: config.json and model.safetensors of a family, in and out, and
// what sentence-transformers adds to them.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "heed/io/json_fields.h"
#include "heed/models/family_map.h"
#include "heed/models/model.h"
#include "heed/models/weight_files.h"
#include "heed/nn/module.h"

namespace heed::models {

// Is this the config.json of another program than Heed?
bool is_of_family(const io::JsonFields& json);

// Refuses (ErrorKind::model) families, classes and settings that are not supported, by name. What
// the file of tensors says about tied embeddings wins.
TransformerConfig load_family_config(const std::string& folder, const io::JsonFields& json);

// config.json, and of an encoder the files that sentence-transformers adds.
void save_family_config(const std::string& folder, const TransformerConfig& config,
                        WeightFormat weights);

// In f32, f16 or bf16; refuses other formats.
void save_family_weights(const std::string& folder, const TransformerConfig& config,
                         std::span<const nn::NamedTensor> parameters, WeightFormat weights);

// Fills the parameters that it visits from the folder's tensors, which it checks at once: a tensor
// that is missing, unknown or of another shape is refused by name.
class FamilyReader : public nn::ParameterVisitor {
 public:
  // Matrices of a format other than f32 are for inference only.
  FamilyReader(const std::string& folder, const TransformerConfig& config, WeightFormat weights);

 protected:
  void visit(const std::string& name, Tensor& value) override;
  void visit_weight(const std::string& name, nn::Weight& weight) override;

 private:
  struct Source {
    const io::SafetensorsFile* file = nullptr;
    io::TensorRecord record;
  };
  void find_sources();
  void add_source(const MappedTensor& tensor, const Source& source);
  void check_missing() const;
  void fill(const std::string& name, Tensor& value);
  const std::vector<float>& floats(const MappedTensor& tensor);

  std::string folder_;
  FamilyMap map_;
  WeightFormat weights_;
  WeightFiles files_;
  std::map<const MappedTensor*, Source> sources_;
  const MappedTensor* last_ = nullptr;  // whose numbers are in last_floats_
  std::vector<float> last_floats_;
};

template <typename Model>
Model load_family_model(const std::string& folder, TransformerConfig config, WeightFormat weights) {
  FamilyReader reader(folder, config, weights);
  config.weights = weights;
  Model model = uninitialized<Model>(config);
  model.visit_parameters(reader);
  return model;
}

}  // namespace heed::models
