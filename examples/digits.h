// Data in memory for the two training examples: sequences of digits, and whether most of them are
// above 4.
#pragma once

#include <heed/heed.h>

#include <vector>

inline const std::vector<std::string> labels{"low", "high"};

// 32 sequences of 5 to 14 digits, as token ids 0 to 9.
inline heed::models::ClassifierBatch make_batch(std::uint64_t seed) {
  heed::Rng rng(seed);
  heed::models::ClassifierBatch batch;
  std::vector<std::vector<int>> sequences(32);
  for (std::vector<int>& digits : sequences) {
    digits.resize(5 + static_cast<std::size_t>(rng.uniform() * 10));
    std::size_t num_high = 0;
    for (int& digit : digits) {
      digit = static_cast<int>(rng.uniform() * 10);
      num_high += digit > 4;
    }
    batch.classes.push_back(2 * num_high > digits.size());
  }
  batch.input = heed::models::pack(sequences);  // end to end, never padded
  return batch;
}

inline double accuracy(const heed::models::Classifier& model,
                       const heed::models::ClassifierBatch& batch) {
  const heed::NoGrad no_grad;
  auto context = heed::nn::ForwardContext::inference();
  const heed::Tensor logits = model.logits(batch.input, context);  // [sequences, 2]
  double num_right = 0;
  for (heed::Index i = 0; i < batch.num_lines(); ++i) {
    const bool is_high = logits.values()[2 * i + 1] > logits.values()[2 * i];
    num_right += is_high == (batch.classes[i] == 1);
  }
  return num_right / static_cast<double>(batch.num_lines());
}
