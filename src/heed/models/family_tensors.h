// Rows for the table of a family's tensors.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "heed/models/family.h"

namespace heed::models::families {

// The rows of several tables, one after the other.
FamilyTensors table(std::initializer_list<FamilyTensors> parts);

// A linear layer: NAME.weight and NAME.bias.
FamilyTensors linear(const std::string& theirs, const std::string& ours);
// One that holds several of ours, or ours in another layout.
FamilyTensors linear(const std::string& theirs, const std::vector<std::string>& ours,
                     TensorLayout layout = TensorLayout::same);
// A norm: NAME.weight is the gain.
FamilyTensors norm(const std::string& theirs, const std::string& ours);

// The four linear layers of an attention, by the names that the family gives them.
struct AttentionNames {
  std::string query, key, value, output;
};
FamilyTensors attention(const std::string& theirs, const std::string& ours,
                        const AttentionNames& names);

}  // namespace heed::models::families
