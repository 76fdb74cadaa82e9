#include "heed/models/peft_modules.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace heed::models {
namespace {

using Parameters = std::map<std::string, const Tensor*, std::less<>>;

constexpr std::string_view weight_suffix = ".weight";
constexpr Index max_layers = 1024;

Parameters by_name(std::span<const nn::NamedTensor> parameters) {
  Parameters all;
  for (const nn::NamedTensor& one : parameters) all.emplace(one.name, &one.value);
  return all;
}

std::string with_layer(std::string name, Index layer) {
  const std::size_t place = name.find("{}");
  if (place != name.npos) name.replace(place, 2, std::to_string(layer));
  return name;
}

FamilyTensor with_layer(FamilyTensor row, Index layer) {
  row.theirs = with_layer(row.theirs, layer);
  for (std::string& name : row.ours) name = with_layer(name, layer);
  for (std::string& name : row.other_names) name = with_layer(name, layer);
  return row;
}

bool has_all(const Parameters& parameters, const FamilyTensor& row) {
  return std::ranges::all_of(row.ours,
                             [&](const std::string& name) { return parameters.contains(name); });
}

// Calls work(row) for the rows of the family's table whose parameters the model has, layer by
// layer.
template <typename Work>
void for_each_tensor(const Family& family, const Parameters& parameters, Work&& work) {
  for (const FamilyTensor& row : family.tensors) {
    if (row.theirs.find("{}") == row.theirs.npos) {
      if (has_all(parameters, row)) work(row);
      continue;
    }
    for (Index layer = 0; layer < max_layers; ++layer) {
      const FamilyTensor one = with_layer(row, layer);
      if (!has_all(parameters, one)) break;
      work(one);
    }
  }
}

bool has_matrices(const Parameters& parameters, const FamilyTensor& row) {
  const bool is_stacked = row.layout == TensorLayout::same ||
                          row.layout == TensorLayout::transposed ||
                          row.layout == TensorLayout::heads;
  return is_stacked && row.theirs.ends_with(weight_suffix) &&
         std::ranges::all_of(row.ours, [&](const std::string& name) {
           return parameters.find(name)->second->rank() == 2;
         });
}

std::string without_weight(const std::string& name) {
  return name.ends_with(weight_suffix) ? name.substr(0, name.size() - weight_suffix.size()) : name;
}

std::vector<std::string> other_names(const Family& family, const FamilyTensor& row) {
  std::vector<std::string> names = row.other_names;
  if (!family.prefix.empty() && row.theirs.starts_with(family.prefix)) {
    names.push_back(row.theirs.substr(family.prefix.size()));
  }
  return names;
}

bool holds_one_as_it_is(const FamilyTensor& row) {
  return row.ours.size() == 1 && row.layout == TensorLayout::same;
}

}  // namespace

Index PeftModule::out_dim() const {
  return std::accumulate(num_rows.begin(), num_rows.end(), Index{0});
}

std::vector<RowPlace> row_places(const PeftModule& module, Index num_heads) {
  std::vector<RowPlace> places;
  const Index num_groups = module.layout == TensorLayout::heads ? num_heads : 1;
  for (Index group = 0; group < num_groups; ++group) {
    for (std::size_t part = 0; part < module.num_rows.size(); ++part) {
      const Index count = module.num_rows[part] / num_groups;
      for (Index row = 0; row < count; ++row) places.push_back({part, group * count + row});
    }
  }
  return places;
}

std::vector<PeftModule> peft_modules(const Family& family,
                                     std::span<const nn::NamedTensor> parameters) {
  const Parameters ours = by_name(parameters);
  std::vector<PeftModule> modules;
  for_each_tensor(family, ours, [&](const FamilyTensor& row) {
    if (!has_matrices(ours, row)) return;
    PeftModule module{.name = without_weight(row.theirs),
                      .other_names = {},
                      .ours = row.ours,
                      .num_rows = {},
                      .in_dim = ours.at(row.ours.front())->dim(1),
                      .layout = row.layout};
    for (const std::string& name : other_names(family, row)) {
      module.other_names.push_back(without_weight(name));
    }
    for (const std::string& name : row.ours) module.num_rows.push_back(ours.at(name)->dim(0));
    modules.push_back(std::move(module));
  });
  return modules;
}

std::string parameter_of_tensor(const Family& family, std::span<const nn::NamedTensor> parameters,
                                const std::string& tensor) {
  std::string found;
  for_each_tensor(family, by_name(parameters), [&](const FamilyTensor& row) {
    const bool is_it =
        row.theirs == tensor || std::ranges::count(other_names(family, row), tensor) > 0;
    if (is_it && holds_one_as_it_is(row)) found = row.ours.front();
  });
  return found;
}

std::string tensor_of_parameter(const Family& family, std::span<const nn::NamedTensor> parameters,
                                const std::string& parameter) {
  std::string found;
  for_each_tensor(family, by_name(parameters), [&](const FamilyTensor& row) {
    if (found.empty() && holds_one_as_it_is(row) && row.ours.front() == parameter) {
      found = row.theirs;
    }
  });
  return found;
}

}  // namespace heed::models
