// The weights of a model at one moment: copied, swapped, and in files with a checksum.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/safetensors.h"
#include "heed/nn/module.h"

namespace heed::train {

using Weights = std::vector<nn::NamedTensor>;

// A copy with its own values.
Weights copy_weights(const Weights& weights);
// Overwrites the values of `to`, which has the same names and shapes.
void assign_weights(Weights& to, const Weights& from);

// The name of the first tensor with a value that is not finite; nothing when there is none.
std::optional<std::string> first_non_finite(const Weights& weights);

// Gives a model other weights for the lifetime of this object; then it gets its own back.
class BorrowedWeights {
 public:
  BorrowedWeights(Weights model, Weights other);
  ~BorrowedWeights();
  void swap();  // the model's own weights for the others, and back
  BorrowedWeights(const BorrowedWeights&) = delete;
  BorrowedWeights& operator=(const BorrowedWeights&) = delete;

 private:
  Weights model_;
  Weights own_;
  Weights other_;
  bool has_other_ = true;
};

// Several groups of weights in one safetensors file; the names of a group start with its prefix.
class WeightsWriter {
 public:
  // The weights must stay as they are until write(). Refuses (ErrorKind::diverged) values that are
  // not finite.
  void add(std::string_view prefix, const Weights& weights);
  // Replaces the file in one step.
  void write(const std::string& path, io::Metadata metadata) const;

 private:
  std::vector<io::TensorRecord> records_;
};

// Refuses (ErrorKind::model) a file without a checksum, and one whose checksum does not fit.
io::SafetensorsFile load_checked(const std::string& path);
// Overwrites the values of `weights`. Refuses (ErrorKind::model) other names or shapes.
void read_weights(const io::SafetensorsFile& file, std::string_view prefix, Weights& weights);

}  // namespace heed::train
