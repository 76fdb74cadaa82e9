#include "heed/models/family_map.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/models/model_kinds.h"
#include "heed/models/weight_files.h"
#include "heed/nn/module.h"

namespace heed::models {
namespace {

constexpr std::string_view layer_sign = "{}";
const std::string output_name = "output.weight";

std::string with_layer(const std::string& name, const std::string& layer) {
  const std::size_t place = name.find(layer_sign);
  if (place == std::string::npos) return name;
  return std::string(name).replace(place, layer_sign.size(), layer);
}

// The parameters of a model of this configuration and their shapes.
std::map<std::string, Shape> parameter_shapes(const TransformerConfig& config) {
  return with_model_class(config.kind, [&]<typename AnyModel>(std::type_identity<AnyModel>) {
    AnyModel model(config, nn::Initializer::meta());
    std::map<std::string, Shape> shapes;
    for (const nn::NamedTensor& parameter : nn::named_parameters(model)) {
      shapes[parameter.name] = parameter.value.shape();
    }
    return shapes;
  });
}

// Of the tensor that holds all parts.
Shape shape_of(const MappedTensor& tensor, bool is_vector, Index patch_side) {
  const Index rows = tensor.num_rows, columns = tensor.num_columns;
  switch (tensor.layout) {
    case TensorLayout::transposed:
      return is_vector ? Shape{rows} : Shape{columns, rows};
    case TensorLayout::one_in_front:
      return is_vector ? Shape{1, rows} : Shape{1, rows, columns};
    case TensorLayout::patches:
      return {rows, tensor.num_channels, patch_side, patch_side};
    case TensorLayout::same:
    case TensorLayout::heads:
      break;
  }
  return is_vector ? Shape{rows} : Shape{rows, columns};
}

std::string renamed(std::string name, const FamilyRename& rename) {
  const std::size_t place = name.find(rename.from);
  return place == std::string::npos ? name : name.replace(place, rename.from.size(), rename.to);
}

// Whether `part` stands in the name between dots or ends.
bool has_part(std::string_view name, std::string_view part) {
  for (std::size_t at = name.find(part); at != std::string_view::npos;
       at = name.find(part, at + 1)) {
    const std::size_t end = at + part.size();
    const bool begins = at == 0 || name[at - 1] == '.';
    if (begins && (end == name.size() || name[end] == '.')) return true;
  }
  return false;
}

// Old names that any family may have.
constexpr FamilyRename older_norms[]{{".LayerNorm.gamma", ".LayerNorm.weight"},
                                     {".LayerNorm.beta", ".LayerNorm.bias"}};

}  // namespace

Index MappedTensor::row_place(std::size_t part, Index row) const {
  const Index stacked = parts[part].first_row + row;
  if (layout == TensorLayout::transposed) return stacked;
  if (layout != TensorLayout::heads) return stacked * num_columns;
  const auto num_parts = static_cast<Index>(parts.size());
  const Index width = parts[part].num_rows / num_heads;
  const Index head = row / width;
  return ((head * num_parts + static_cast<Index>(part)) * width + row % width) * num_columns;
}

Index MappedTensor::column_place(Index column) const {
  if (layout == TensorLayout::transposed) return column * num_rows;
  if (layout != TensorLayout::patches) return column;
  const Index num_pixels = num_columns / num_channels;
  return column % num_channels * num_pixels + column / num_channels;
}

// Calls move(ours, theirs) with the places of every number.
template <typename Move>
void MappedTensor::for_each_place(std::size_t part, Move&& move) const {
  std::size_t i = 0;
  for (Index row = 0; row < parts[part].num_rows; ++row) {
    const Index begin = row_place(part, row);
    for (Index column = 0; column < num_columns; ++column) {
      move(i++, static_cast<std::size_t>(begin + column_place(column)));
    }
  }
}

bool MappedTensor::is_vector() const {
  return shape.rank() == (layout == TensorLayout::one_in_front ? 2 : 1);
}

std::vector<std::int64_t> MappedTensor::shape_of_part(std::size_t part) const {
  if (is_vector()) return {parts[part].num_rows};
  return {parts[part].num_rows, num_columns};
}

std::span<const std::byte> MappedTensor::rows_of_part(std::size_t part,
                                                      std::span<const std::byte> theirs) const {
  const std::size_t row_bytes =
      theirs.size() / static_cast<std::size_t>(std::max<Index>(1, num_rows));
  const auto first = static_cast<std::size_t>(parts[part].first_row);
  return theirs.subspan(first * row_bytes,
                        static_cast<std::size_t>(parts[part].num_rows) * row_bytes);
}

// Rows in blocks, so that a column's numbers, which may lie side by side in theirs, are read
// together. Their address may be any.
template <typename Number>
void MappedTensor::move_rows(std::size_t part, const std::byte* theirs, std::byte* ours) const {
  constexpr Index size = sizeof(Number), block = 64;
  parallel_ranges(parts[part].num_rows, block, [&](Index begin, Index end) {
    std::array<Index, block> places{};
    for (Index row = begin; row < end; ++row) {
      places[static_cast<std::size_t>(row - begin)] = row_place(part, row);
    }
    for (Index column = 0; column < num_columns; ++column) {
      const Index offset = column_place(column);
      for (Index row = begin; row < end; ++row) {
        const Index from = places[static_cast<std::size_t>(row - begin)] + offset;
        std::memcpy(ours + (row * num_columns + column) * size, theirs + from * size, size);
      }
    }
  });
}

void MappedTensor::read(std::size_t part, std::span<const std::byte> theirs,
                        std::span<std::byte> ours) const {
  const Index count = num_rows * num_columns;
  switch (count == 0 ? 0 : std::ssize(theirs) / count) {
    case 0:
      return;
    case 1:
      return move_rows<std::uint8_t>(part, theirs.data(), ours.data());
    case 2:
      return move_rows<std::uint16_t>(part, theirs.data(), ours.data());
    case 4:
      return move_rows<std::uint32_t>(part, theirs.data(), ours.data());
    default:
      return move_rows<std::uint64_t>(part, theirs.data(), ours.data());
  }
}

void MappedTensor::write(std::size_t part, std::span<const float> ours,
                         std::span<float> theirs) const {
  if (has_blocks()) {
    const auto begin = static_cast<std::size_t>(parts[part].first_row * num_columns);
    std::ranges::copy(ours, theirs.subspan(begin).begin());
    return;
  }
  for_each_place(part, [&](std::size_t i, std::size_t place) { theirs[place] = ours[i]; });
}

Tying untied_of(const TransformerConfig& config) {
  const bool shares_inputs = config.kind == ModelKind::translation && config.source_vocabulary == 0;
  return shares_inputs ? Tying::inputs : Tying::none;
}

const FamilyClass& class_of(const Family& family, const TransformerConfig& config) {
  for (const FamilyClass& one : family.classes) {
    TransformerConfig with_head = config;
    if (one.set_head != nullptr) one.set_head(with_head);
    if (one.kind == config.kind && with_head == config) return one;
  }
  fail(ErrorKind::model, family.model_type,
       ": expected a model of the family with a head that it has, found ", name_of(config.kind));
}

FamilyMap::FamilyMap(const Family& family, const TransformerConfig& config)
    : family_(family), written_prefix_(config.kind == ModelKind::encoder ? "" : family.prefix) {
  const Shapes shapes = parameter_shapes(config);
  add_rows(family.tensors, config, shapes);
  add_rows(class_of(family, config).tensors, config, shapes);
  index_names();
  for (const auto& [name, shape] : shapes) {
    check_as(ErrorKind::model, places_.contains(name), family.model_type,
             ": expected a model of the family, found one with ", name);
  }
}

void FamilyMap::add_rows(const FamilyTensors& rows, const TransformerConfig& config,
                         const Shapes& shapes) {
  const Index num_layers = std::max(config.encoder_layers, config.decoder_layers);
  for (const FamilyTensor& row : rows) {
    const bool is_of_layer = row.theirs.find(layer_sign) != std::string::npos;
    for (Index layer = 0; layer < (is_of_layer ? num_layers : 1); ++layer) {
      add(row, std::to_string(layer), config, shapes);
    }
  }
}

void FamilyMap::add(const FamilyTensor& row, const std::string& layer,
                    const TransformerConfig& config, const Shapes& shapes) {
  const bool is_output = row.ours.front() == output_name;
  if (is_output && !shapes.contains(output_name)) return add_to_embedding(row.theirs);
  if (!row.with.empty() && !shapes.contains(with_layer(row.with, layer))) return;
  if (shapes.contains(with_layer(row.without, layer))) return;
  MappedTensor tensor{.name = with_layer(row.theirs, layer),
                      .layout = row.layout,
                      .num_heads = config.num_heads,
                      .num_channels = config.image_channels,
                      .other_names = row.other_names,
                      .may_be_missing = row.may_be_missing};
  bool is_vector = true;
  for (const std::string& ours : row.ours) {
    const auto found = shapes.find(with_layer(ours, layer));
    if (found == shapes.end()) return;
    const Shape& shape = found->second;
    is_vector = shape.rank() == 1;
    if (!is_vector) tensor.num_columns = shape.dim(1);
    tensor.parts.push_back({found->first, tensor.num_rows, shape.dim(0)});
    tensor.num_rows += shape.dim(0);
  }
  tensor.shape = shape_of(tensor, is_vector, config.patch_side);
  tensors_.push_back(std::move(tensor));
}

// A tied output is another name of the embedding.
void FamilyMap::add_to_embedding(const std::string& name) {
  for (MappedTensor& tensor : tensors_) {
    const std::string& ours = tensor.parts.front().name;
    if (ours == "embedding.weight" || ours == "target_embedding.weight") {
      tensor.other_names.push_back(name);
    }
  }
}

void FamilyMap::index_names() {
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    const MappedTensor& tensor = tensors_[t];
    by_name_[tensor.name] = t;
    for (const std::string& name : tensor.other_names) by_name_[name] = t;
    for (std::size_t p = 0; p < tensor.parts.size(); ++p) {
      places_[tensor.parts[p].name] = {&tensor, p};
    }
  }
}

const MappedTensor* FamilyMap::find_exactly(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &tensors_[found->second];
}

const MappedTensor* FamilyMap::find(std::string_view name) const {
  for (const std::string& prefix : {std::string(), family_.prefix}) {
    std::string full = prefix + std::string(name);
    if (const MappedTensor* tensor = find_exactly(full)) return tensor;
    for (const FamilyRename& rename : older_norms) full = renamed(full, rename);
    for (const FamilyRename& rename : family_.renames) full = renamed(full, rename);
    if (const MappedTensor* tensor = find_exactly(full)) return tensor;
  }
  return nullptr;
}

bool FamilyMap::is_ignored(std::string_view name) const {
  return std::ranges::any_of(family_.ignored,
                             [&](std::string_view part) { return has_part(name, part); });
}

std::vector<nn::NamedTensor> FamilyMap::to_theirs(std::span<const nn::NamedTensor> ours) const {
  std::vector<nn::NamedTensor> theirs;
  std::map<const MappedTensor*, Tensor> values;
  for (const nn::NamedTensor& parameter : ours) {
    const Place place = place_of(parameter.name);
    const MappedTensor& tensor = *place.tensor;
    Tensor& whole = values[&tensor];
    if (!whole.is_defined()) {
      whole = Tensor::zeros(tensor.shape);
      const bool is_matrix = parameter.can_be_quantized;
      const bool has_prefix = tensor.name.starts_with(family_.prefix);
      theirs.push_back(
          {has_prefix ? written_prefix_ + tensor.name.substr(family_.prefix.size()) : tensor.name,
           whole, is_matrix});
    }
    tensor.write(place.part, parameter.value.values(), whole.values());
  }
  return theirs;
}

bool holds_tied_output(const Family& family, const TransformerConfig& config,
                       const std::string& folder) {
  TransformerConfig untied = config;
  untied.tying = untied_of(config);
  const FamilyMap map(family, untied);
  const bool has_two_inputs = config.kind == ModelKind::translation && untied.tying == Tying::none;
  const char* input = has_two_inputs ? "target_embedding.weight" : "embedding.weight";
  std::map<const MappedTensor*, io::StoredTensor> stored;
  for (io::StoredTensor& tensor : stored_tensors(folder)) {
    if (const MappedTensor* mapped = map.find(tensor.name)) stored[mapped] = std::move(tensor);
  }
  const auto in = stored.find(map.place_of(input).tensor);
  const auto out = stored.find(map.place_of(output_name).tensor);
  if (in == stored.end() || out == stored.end()) return true;
  return io::have_same_bytes(in->second, out->second);
}

}  // namespace heed::models
