#include "heed/models/weight_files.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "heed/base/error.h"
#include "heed/base/printable.h"
#include "heed/io/files.h"
#include "heed/io/json_fields.h"

namespace heed::models {
namespace {

constexpr std::size_t max_files = 4096;

std::string single_path(const std::string& folder) { return folder + "/model.safetensors"; }
std::string index_path(const std::string& folder) {
  return folder + "/model.safetensors.index.json";
}

// A name, not a way to another folder.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\\') == std::string::npos && !has_control_characters(name);
}

std::set<std::string> indexed_names(const std::string& folder) {
  const auto map = io::JsonFields::load(index_path(folder)).object("weight_map");
  std::set<std::string> names;
  for (const std::string& tensor : map.names()) {
    const std::string name = map.text(tensor);
    check_as(ErrorKind::model, is_plain_name(name), map.place(excerpt(tensor)),
             ": expected the name of a file in the same folder, found ", excerpt(name));
    names.insert(name);
    check_as(ErrorKind::model, names.size() <= max_files, index_path(folder), ": expected at most ",
             max_files, " files, found more");
  }
  check_as(ErrorKind::model, !names.empty(), index_path(folder),
           ": expected the names of files, found none");
  return names;
}

}  // namespace

std::vector<std::string> weight_paths(const std::string& folder) {
  const bool is_single = io::is_there(single_path(folder), ErrorKind::model);
  if (is_single || !io::is_there(index_path(folder), ErrorKind::model)) {
    return {single_path(folder)};
  }
  std::vector<std::string> paths;
  for (const std::string& name : indexed_names(folder)) paths.push_back(folder + '/' + name);
  return paths;
}

bool has_weights(const std::string& folder) {
  return io::is_there(single_path(folder), ErrorKind::model) ||
         io::is_there(index_path(folder), ErrorKind::model);
}

std::vector<io::StoredTensor> stored_tensors(const std::string& folder) {
  std::vector<io::StoredTensor> tensors;
  for (const std::string& path : weight_paths(folder)) {
    for (std::string& name : io::tensor_names(path)) tensors.push_back({path, std::move(name)});
  }
  std::ranges::sort(tensors, {}, &io::StoredTensor::name);
  const auto twice = std::ranges::adjacent_find(tensors, {}, &io::StoredTensor::name);
  check_as(ErrorKind::model, twice == tensors.end(), folder, ": expected every tensor once, found ",
           twice == tensors.end() ? "" : excerpt(twice->name), " twice");
  return tensors;
}

WeightFiles WeightFiles::load(const std::string& folder, std::uint64_t max_bytes) {
  WeightFiles all;
  for (const std::string& path : weight_paths(folder)) {
    const io::SafetensorsFile& file =
        all.files_.emplace_back(io::SafetensorsFile::load(path, max_bytes));
    for (const io::TensorRecord& tensor : file.tensors()) max_bytes -= tensor.bytes.size();
  }
  return all;
}

}  // namespace heed::models
