// The tensors of a model folder in one file, model.safetensors, or in several, which
// model.safetensors.index.json names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/io/safetensors.h"

namespace heed::models {

// The paths of the files. Refuses (ErrorKind::model) names that lead out of the folder, and more
// files than any model has.
std::vector<std::string> weight_paths(const std::string& folder);

bool has_weights(const std::string& folder);

// The names of all tensors and the files that they are in. Reads headers only; refuses a tensor
// that is in two files.
std::vector<io::StoredTensor> stored_tensors(const std::string& folder);

// All files in memory.
class WeightFiles {
 public:
  // Refuses more than `max_bytes` of data in all, before it takes memory.
  static WeightFiles load(const std::string& folder, std::uint64_t max_bytes);

  const std::vector<io::SafetensorsFile>& files() const { return files_; }

 private:
  std::vector<io::SafetensorsFile> files_;
};

}  // namespace heed::models
