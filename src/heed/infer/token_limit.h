// Token limits: texts that are longer than a model can read are truncated, or refused by their
// number.
#pragma once

#include <vector>

#include "heed/models/transformer_config.h"

namespace heed::infer {

// The longest text that a model reads in one piece: its learned positions or, where it has none,
// 32,768 tokens, about 130 kB of text. Time grows with the square of the length, and memory with
// it.
Index max_text_tokens(const models::TransformerConfig& config);

// Which part `truncate` cuts from a text that is too long.
enum class Cut { nothing, end, beginning };

struct TokenLimit {
  Index max_tokens = 0;
  const char* what = "";      // for messages: "a source"
  const char* unit = "line";  // of the number in messages
  Cut cut = Cut::nothing;     // nothing: the caller has no such setting
  bool truncate = false;
};

// For sources and for lines to classify, without the end token. A model that was trained on
// truncated ones (TransformerConfig::truncate_source) reads as much of every text.
TokenLimit source_limit(const models::TransformerConfig& config, const char* what, bool truncate);

// Refuses (ErrorKind::data) more tokens, whether they could be truncated or not:
// "line 3: expected a source of at most 8 tokens, found 9 (`truncate` cuts the end)".
void check_length(Index num_tokens, Index number, const TokenLimit& limit);

// Truncates the ids if that is allowed, and refuses them otherwise. True: something was cut.
bool fit(std::vector<int>& ids, Index number, const TokenLimit& limit);

}  // namespace heed::infer
