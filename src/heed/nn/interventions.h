// Interventions on attention for one pass, while the model stays as it is: ablate or scale heads,
// knock out links, steer a head's output, swap the similarity.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/nn/attention_hook.h"

namespace heed::nn {

// Queries and keys are counted from the start of their sequence, cached or not, in every sequence
// of a batch; positions that a sequence does not have are ignored.
class Interventions : public AttentionHook {
 public:
  // A head's output is multiplied by `scale`, before the output matrix. 0 ablates the head, 1
  // leaves every bit as it is.
  struct HeadScale {
    std::string layer;
    Index head = 0;
    float scale = 1;
  };
  // Attention knockout: the query does not see the key, whose weight is shared out to the others.
  struct Knockout {
    std::string layer;
    std::optional<Index> head = std::nullopt;  // all heads when there is none
    Index query = 0;
    Index key = 0;
  };
  // A vector [K] that is added to a head's output for one query, after the head's scale.
  struct SteeringVector {
    std::string layer;
    Index head = 0;
    Index query = 0;
    std::vector<float> added;
  };

  std::vector<HeadScale> scales;
  std::vector<Knockout> knockouts;
  std::vector<SteeringVector> steering;
  std::optional<ops::Similarity> swapped_similarity;  // in place of every layer's own

  std::optional<ops::Similarity> similarity() const override { return swapped_similarity; }
  ops::AttentionMask mask(const AttentionCall& call, const ops::AttentionMask& mask) const override;
  Tensor heads(const AttentionCall& call, const Tensor& heads) const override;
};

}  // namespace heed::nn
