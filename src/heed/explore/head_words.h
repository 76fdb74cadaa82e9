// Attention between words instead of tokens, and without the special ones, as the page can show it.
#pragma once

#include <string>
#include <vector>

#include "heed/explore/recording.h"
#include "heed/explore/token_list.h"

namespace heed::explore {

// The tokens of a side of a recording: source or target.
TokenList tokens_of(const Recording& recording, const std::string& side);

struct GroupOptions {
  bool by_word = false;       // a group for each word; otherwise for each token
  bool hide_special = false;  // special tokens are in no group
};

// The places of the tokens that are shown together, in order.
using TokenGroups = std::vector<std::vector<Index>>;
TokenGroups token_groups(const TokenList& tokens, const GroupOptions& options);

// weights [H, queries, keys] -> [H, groups of queries, groups of keys]: the weight of a
// query's tokens on all tokens of a key, on average. With `renormalise`, the weights of each token
// are divided by their sum over these keys, and stay 0 where that is 0. Summed in double, rounded
// once.
Tensor grouped_weights(const Tensor& weights, const TokenGroups& queries, const TokenGroups& keys,
                       bool renormalise);

// The weights of one site, grouped by the options; the same bits if these group nothing.
Tensor shown_weights(const Recording& recording, const std::string& site,
                     const GroupOptions& options);

}  // namespace heed::explore
