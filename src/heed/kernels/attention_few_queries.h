// Attention of one sequence and one head with a handful of queries, as decoding has them: keys and
// values are read once, where they are.
#pragma once

#include "heed/kernels/attention.h"

namespace heed::kernels {

// Whether attention_few_queries supports these sizes and this rule: few queries, each of which sees
// every key, and scores that are only scaled and biased by distance: no cap, no ALiBi, no dense
// mask, no window, no dropout.
bool has_few_queries(const AttentionSizes& sizes, const AttentionRule& rule) noexcept;

// Prefetches keys and values that attention_few_queries will read soon. A step of decoding has
// touched so much since the last that they have left L1 and L2. Many keys are not prefetched here
// but while they are read.
void prefetch_few_queries(const PagedRows& key, const PagedRows& value,
                          const AttentionSizes& sizes) noexcept;

// What `attention` gives for all queries, to the bit.
void attention_few_queries(const AttentionOutput& output, const AttentionInput& input,
                           const AttentionRule& rule) noexcept;

}  // namespace heed::kernels
