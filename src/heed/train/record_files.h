// Files of records in a recipe: how they are read, and what was understood.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "heed/data/record_columns.h"
#include "heed/train/recipe.h"

namespace heed::train {

inline data::RecordOptions record_options(const TrainingOptions& training,
                                          data::FieldCount num_fields = 2) {
  return {.fields = data::parse_field_names(training.fields, num_fields, "`fields`"),
          .has_header = training.header};
}

// Every way once.
inline void add_columns(std::vector<std::string>& columns, const std::string& understood) {
  if (std::ranges::find(columns, understood) == columns.end()) columns.push_back(understood);
}

}  // namespace heed::train
