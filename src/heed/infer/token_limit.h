// Texts that are longer than a model can read: cut, or refused by their number.
#pragma once

#include <vector>

#include "heed/models/transformer_config.h"

namespace heed::infer {

// What --truncate takes away from a text that is too long.
enum class Cut { nothing, end, beginning };

struct TokenLimit {
  Index max_tokens = 0;
  const char* what = "";      // for messages: "a source"
  const char* unit = "line";  // what the number counts
  Cut cut = Cut::nothing;     // nothing: there is no such choice
  bool truncate = false;      // was it chosen?
};

// Refuses (ErrorKind::data) more tokens, whether they could be cut or not:
// "line 3: expected a source of at most 8 tokens, found 9 (--truncate cuts the end)".
void check_length(Index num_tokens, Index number, const TokenLimit& limit);

// Cuts what may be cut, and says whether something was; refuses the rest.
bool fit(std::vector<int>& ids, Index number, const TokenLimit& limit);

}  // namespace heed::infer
