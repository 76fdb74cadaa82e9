// The tensors of one model in the layout of its family: the family's table, with the layers of the
// model in place of {} and the shapes of its parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "heed/models/family.h"
#include "heed/nn/module.h"

namespace heed::models {

// One tensor of theirs, and where the numbers of our parameters are in it.
struct MappedTensor {
  struct Part {
    std::string name;
    Index first_row = 0, num_rows = 0;  // of the parts stacked
  };

  std::string name;
  Shape shape = {};
  TensorLayout layout = TensorLayout::same;
  std::vector<Part> parts = {};
  Index num_rows = 0, num_columns = 1;  // of all parts
  Index num_heads = 1;                  // for heads
  Index num_channels = 1;               // for patches
  std::vector<std::string> other_names = {};
  bool may_be_missing = false;

  // Whether the numbers of a part stand together, in our order.
  bool has_blocks() const {
    return layout == TensorLayout::same || layout == TensorLayout::one_in_front;
  }
  std::vector<std::int64_t> shape_of_part(std::size_t part) const;  // ours
  // Such a block of bytes; in other layouts as many bytes.
  std::span<const std::byte> rows_of_part(std::size_t part,
                                          std::span<const std::byte> theirs) const;

  // The numbers of one of our parameters, of any type, from theirs.
  void read(std::size_t part, std::span<const std::byte> theirs, std::span<std::byte> ours) const;
  // The other way.
  void write(std::size_t part, std::span<const float> ours, std::span<float> theirs) const;

 private:
  // Element (row, column) of a part is at row_place + column_place.
  Index row_place(std::size_t part, Index row) const;
  Index column_place(Index column) const;
  bool is_vector() const;
  template <typename Move>
  void for_each_place(std::size_t part, Move&& move) const;
  template <typename Number>
  void move_rows(std::size_t part, const std::byte* theirs, std::byte* ours) const;
};

class FamilyMap {
 public:
  // Refuses (ErrorKind::model) a model with parameters that the family has no tensors for.
  FamilyMap(const Family& family, const TransformerConfig& config);
  FamilyMap(const FamilyMap&) = delete;
  FamilyMap& operator=(const FamilyMap&) = delete;

  const std::vector<MappedTensor>& tensors() const { return tensors_; }

  struct Place {
    const MappedTensor* tensor = nullptr;
    std::size_t part = 0;
  };
  Place place_of(const std::string& parameter) const { return places_.at(parameter); }

  // The tensor that a name in a file means, old names and names without prefix included; null if
  // there is none.
  const MappedTensor* find(std::string_view name) const;
  bool is_ignored(std::string_view name) const;

  // Our parameters as their tensors, by the names of a model of this class.
  std::vector<nn::NamedTensor> to_theirs(std::span<const nn::NamedTensor> ours) const;

 private:
  using Shapes = std::map<std::string, Shape>;  // of our parameters, by name
  void add_rows(const FamilyTensors& rows, const TransformerConfig& config, const Shapes& shapes);
  void add(const FamilyTensor& row, const std::string& layer, const TransformerConfig& config,
           const Shapes& shapes);
  void add_to_embedding(const std::string& name);
  void index_names();
  const MappedTensor* find_exactly(const std::string& name) const;

  const Family& family_;
  std::string written_prefix_;  // "" for a model without a head
  std::vector<MappedTensor> tensors_;
  std::map<std::string, Place, std::less<>> places_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
};

// The class of the configuration's model.
const FamilyClass& class_of(const Family& family, const TransformerConfig& config);

// The tying of such a model with an output of its own.
Tying untied_of(const TransformerConfig& config);

// Are the embedding and the output one table? As the tensors say, whatever config.json says: one of
// the two, or two that are equal, is one.
bool holds_tied_output(const Family& family, const TransformerConfig& config,
                       const std::string& folder);

}  // namespace heed::models
