// The ids of the tokens that mean something to a model.
#pragma once

#include <algorithm>
#include <vector>

namespace heed::text {

// Those of the tokenizers that Heed trains.
namespace own_tokens {
inline constexpr int pad = 0, unknown = 1, begin = 2, end = 3;
}

// Heed's own, unless a model of another family says otherwise.
struct SpecialTokens {
  static constexpr int none = -1;  // the model has no such token

  int pad = own_tokens::pad;
  int unknown = own_tokens::unknown;
  int begin = own_tokens::begin;
  // Each of them ends a text; the first is the one that is appended.
  std::vector<int> ends = {own_tokens::end};
  int decoder_start = own_tokens::end;  // of an encoder-decoder: what its target begins with

  int end() const { return ends.empty() ? none : ends.front(); }
  bool is_end(int id) const { return std::ranges::find(ends, id) != ends.end(); }

  friend bool operator==(const SpecialTokens&, const SpecialTokens&) = default;
};

}  // namespace heed::text
