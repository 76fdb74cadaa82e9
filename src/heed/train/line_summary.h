// The data of a task whose examples are lines.
#pragma once

#include "heed/data/line_corpus.h"
#include "heed/train/training_observer.h"

namespace heed::train {

// `validation` may be null.
inline DataSummary line_summary(const text::Tokenizer& tokenizer, const data::LineCorpus& training,
                                const data::LineCorpus* validation) {
  DataSummary summary;
  summary.vocabulary = tokenizer.size();
  summary.examples = "lines";
  summary.num_examples = training.size();
  summary.num_blank = training.num_blank();
  summary.num_too_long = training.num_too_long();
  if (validation) {
    summary.num_valid_examples = validation->size();
    summary.num_valid_left_out = validation->num_blank() + validation->num_too_long();
  }
  return summary;
}

}  // namespace heed::train
