// The ids of the tokens that mean something to a model.
#pragma once

#include <algorithm>
#include <vector>

namespace heed::text {

// Those of Heed's own tokenizers, unless a model of another family says otherwise.
struct SpecialTokens {
  static constexpr int none = -1;  // the model has no such token

  int pad = 0;
  int unknown = 1;
  int begin = 2;
  std::vector<int> ends = {3};  // each of them ends a text; the first is the one that is appended
  int decoder_start = 3;        // of an encoder-decoder: what its target begins with

  int end() const { return ends.empty() ? none : ends.front(); }
  bool is_end(int id) const { return std::ranges::find(ends, id) != ends.end(); }

  friend bool operator==(const SpecialTokens&, const SpecialTokens&) = default;
};

}  // namespace heed::text
