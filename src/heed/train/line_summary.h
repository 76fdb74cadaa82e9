// The parts that the data summaries of several tasks have in common.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "heed/data/line_corpus.h"
#include "heed/train/training_observer.h"

namespace heed::train {

inline constexpr std::size_t max_summary_samples = 3;

inline LengthSummary length_summary(const std::string& what, const data::TextLengths& lengths) {
  return {what, lengths.median, lengths.percentile_95, lengths.max};
}

// The most frequent first; equally frequent ones by name.
inline std::vector<ClassCount> count_classes(std::span<const int> classes,
                                             std::span<const std::string> labels) {
  std::vector<ClassCount> counts;
  for (const std::string& label : labels) counts.push_back({label, 0});
  for (const int one : classes) ++counts[static_cast<std::size_t>(one)].count;
  std::ranges::stable_sort(counts, std::greater(), &ClassCount::count);
  return counts;
}

// The data of a task whose examples are lines; `validation` may be null.
inline DataSummary line_summary(const text::Tokenizer& tokenizer, const data::LineCorpus& training,
                                const data::LineCorpus* validation) {
  DataSummary summary;
  summary.vocabulary = tokenizer.size();
  summary.examples = "lines";
  summary.num_examples = training.size();
  summary.num_blank = training.num_blank();
  summary.num_too_long = training.num_too_long();
  summary.num_truncated = training.num_truncated();
  summary.max_length_for_99 = training.lengths().percentile_99;
  summary.lengths = {length_summary("text", training.lengths())};
  if (validation) {
    summary.num_valid_examples = validation->size();
    summary.num_valid_left_out = validation->num_blank() + validation->num_too_long();
  }
  return summary;
}

}  // namespace heed::train
