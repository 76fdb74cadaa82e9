// Summary of an attention head on one sentence: a label and two numbers.
#pragma once

#include <string>
#include <vector>

#include "heed/core/tensor.h"

namespace heed::explore {

struct HeadFact {
  // "previous token", "next token", "same token", "first token", "last token", "aligned", "broad",
  // "mixed".
  std::string label;
  // How far the label is true, 0 to 1: the mean weight of the cells that it names; for aligned and
  // mixed the mean of each query's largest weight; for broad the entropy as a part of the largest
  // that is possible.
  double share = 0;
  double entropy = 0;  // in bits, mean over queries
};

enum class LinkKind {
  own,     // self-attention that sees all
  causal,  // self-attention that sees no later keys
  cross,   // keys of another sequence: places mean nothing, except the first and the last
};

// Weights that name a place when their mean is at least this.
inline constexpr double place_threshold = 0.5;
// A cross-attention head is aligned when the mean of its queries' largest weights and the share of
// different keys that they fall on reach these.
inline constexpr double aligned_weight_threshold = 0.4;
inline constexpr double aligned_keys_threshold = 0.5;
// A head is broad when its entropy is at least this share of the largest possible one.
inline constexpr double broad_threshold = 0.8;

// weights [H, queries, keys] -> a fact for each head. The place with the largest mean weight is the
// label, if that reaches its threshold; then aligned, broad and mixed are tried in this order. The
// first query of causal attention sees one key only and does not count for labels, unless it is
// alone.
std::vector<HeadFact> head_facts(const Tensor& weights, LinkKind kind);

}  // namespace heed::explore
