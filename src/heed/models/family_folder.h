// Model folders of Hugging Face: config.json and model.safetensors of a family, in and out, and
// what sentence-transformers adds to them.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "heed/io/json_fields.h"
#include "heed/models/family_map.h"
#include "heed/models/stored_weights.h"
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

// The folder's tensors by the names and in the layout of our parameters. All are checked at once:
// one that is missing, unknown or of another shape is refused by name.
class FamilyFolderTensors : public TensorSource {
 public:
  FamilyFolderTensors(const std::string& folder, const TransformerConfig& config);

  io::TensorRecord require(const std::string& name) override;
  void release(std::span<const std::byte> bytes) override;
  std::string file_of(const std::string& name) const override;

 private:
  struct Source {
    const io::SafetensorsFile* file = nullptr;
    io::TensorRecord record;
  };
  void find_sources();
  void add_source(const MappedTensor& tensor, const Source& source);
  void check_missing() const;
  const Source* source_of(const std::string& name) const;  // null: zeros
  io::TensorRecord in_our_layout(const FamilyMap::Place& place, const Source& source);
  io::TensorRecord zeros(const FamilyMap::Place& place);

  FamilyMap map_;
  WeightFiles files_;
  std::map<const MappedTensor*, Source> sources_;
  const io::SafetensorsFile* file_ = nullptr;  // that has the bytes of the last record
  std::vector<std::byte> bytes_;               // of the last record, if they had to be moved
};

}  // namespace heed::models
