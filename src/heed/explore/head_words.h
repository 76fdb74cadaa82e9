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

// weights [H, queries, keys] -> [H, groups of queries, groups of keys]: what a query's tokens give
// to all of a key's, on average. With `renormalise`, what each token gives is divided by what it
// gives to all of these keys, and stays 0 where that is 0. Summed in double, rounded once.
Tensor grouped_weights(const Tensor& weights, const TokenGroups& queries, const TokenGroups& keys,
                       bool renormalise);

// Of one site, as the options say: its own weights, to the bit, where they leave all as it is.
Tensor shown_weights(const Recording& recording, const std::string& site,
                     const GroupOptions& options);

}  // namespace heed::explore
