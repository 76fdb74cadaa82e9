// Files of records in a recipe: how they are read, and what was understood.
#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "heed/data/record_columns.h"
#include "heed/data/records.h"
#include "heed/train/file_paths.h"
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

inline void append_pairs(text::ParallelLines& all, text::ParallelLines more) {
  std::ranges::move(more.source, std::back_inserter(all.source));
  std::ranges::move(more.target, std::back_inserter(all.target));
}

// Both fields of all records of these files. Adds to `columns` what was understood.
inline text::ParallelLines read_record_pairs_of(const PathList& paths,
                                                std::span<const data::FieldRole> roles,
                                                const TrainingOptions& training,
                                                std::vector<std::string>& columns) {
  text::ParallelLines all;
  for (const std::string& path : paths) {
    data::RecordPairs pairs = data::read_record_pairs(path, record_options(training), roles);
    add_columns(columns, pairs.columns);
    append_pairs(all, std::move(pairs.lines));
  }
  return all;
}

}  // namespace heed::train
