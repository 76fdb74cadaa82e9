#include "heed/models/peft_files.h"

#include "heed/base/error.h"

namespace heed::models {

FamilyMap peft_tensors(const TransformerConfig& config) {
  const Family* family = find_family(config.family);
  check_as(ErrorKind::model, family != nullptr,
           "adapter: expected a model of Hugging Face's for an adapter of PEFT's, found ",
           name_of(config.kind));
  return FamilyMap(*family, config);
}

std::optional<std::string> peft_module(const MappedTensor& tensor) {
  constexpr std::string_view suffix = ".weight";
  const bool is_matrix = tensor.shape.rank() == 2 && tensor.layout != TensorLayout::one_in_front;
  if (!is_matrix || !tensor.name.ends_with(suffix)) return std::nullopt;
  return tensor.name.substr(0, tensor.name.size() - suffix.size());
}

MappedTensor peft_rows(const MappedTensor& tensor, Index rank) {
  MappedTensor rows = tensor;
  rows.num_columns = rank;
  rows.shape = {rows.num_rows, rank};
  if (rows.layout == TensorLayout::transposed) rows.layout = TensorLayout::same;
  return rows;
}

}  // namespace heed::models
