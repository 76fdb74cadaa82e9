// Weights in a safetensors file with a checksum, so that a damaged file is never used.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/io/safetensors.h"
#include "heed/train/weights.h"

namespace heed::train {

// Several groups of weights for one file; the names of a group begin with its prefix.
class WeightsWriter {
 public:
  // The weights must stay as they are until write().
  void add(std::string_view prefix, const Weights& weights);
  // Replaces the file in one step.
  void write(const std::string& path, io::Metadata metadata) const;

 private:
  std::vector<io::TensorRecord> records_;
};

// Refuses (ErrorKind::model) a file whose checksum does not fit.
io::SafetensorsFile load_checked(const std::string& path);
// Overwrites the values of `weights`. Refuses (ErrorKind::model) other names or shapes.
void read_weights(const io::SafetensorsFile& file, std::string_view prefix, Weights& weights);

}  // namespace heed::train
