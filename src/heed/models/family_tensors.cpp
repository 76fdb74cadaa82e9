#include "heed/models/family_tensors.h"

namespace heed::models::families {

FamilyTensors table(std::initializer_list<FamilyTensors> parts) {
  FamilyTensors all;
  for (const FamilyTensors& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

FamilyTensors linear(const std::string& theirs, const std::vector<std::string>& ours,
                     TensorLayout layout) {
  FamilyTensors rows;
  for (const char* part : {".weight", ".bias"}) {
    std::vector<std::string> names;
    for (const std::string& name : ours) names.push_back(name + part);
    rows.push_back({theirs + part, names, layout});
  }
  return rows;
}

FamilyTensors linear(const std::string& theirs, const std::string& ours) {
  return linear(theirs, std::vector{ours});
}

FamilyTensors norm(const std::string& theirs, const std::string& ours) {
  return {{theirs + ".weight", {ours + ".gain"}}, {theirs + ".bias", {ours + ".bias"}}};
}

FamilyTensors attention(const std::string& theirs, const std::string& ours,
                        const AttentionNames& names) {
  return table({linear(theirs + names.query, ours + ".query"),
                linear(theirs + names.key, ours + ".key"),
                linear(theirs + names.value, ours + ".value"),
                linear(theirs + names.output, ours + ".output")});
}

}  // namespace heed::models::families
