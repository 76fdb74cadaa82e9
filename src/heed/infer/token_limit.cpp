#include "heed/infer/token_limit.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed::infer {
namespace {

const char* hint(Cut cut) {
  switch (cut) {
    case Cut::end:
      return " (`truncate` cuts the end)";
    case Cut::beginning:
      return " (`truncate` cuts the beginning)";
    default:
      return "";
  }
}

}  // namespace

Index max_text_tokens(const models::TransformerConfig& config) {
  constexpr Index without_positions = 32768;
  return std::min(max_positions(config), without_positions);
}

TokenLimit source_limit(const models::TransformerConfig& config, const char* what, bool truncate) {
  TokenLimit limit{.max_tokens = max_text_tokens(config) - 1,  // and the end token
                   .what = what,
                   .cut = Cut::end,
                   .truncate = truncate};
  if (config.truncate_source > 0) {
    limit.max_tokens = std::min(limit.max_tokens, config.truncate_source - 1);
    limit.truncate = true;
  }
  return limit;
}

void check_length(Index num_tokens, Index number, const TokenLimit& limit) {
  check_as(ErrorKind::data, num_tokens <= limit.max_tokens, limit.unit, " ", number, ": expected ",
           limit.what, " of at most ", limit.max_tokens, " tokens, found ", num_tokens,
           hint(limit.cut));
}

bool fit(std::vector<int>& ids, Index number, const TokenLimit& limit) {
  const Index too_many = std::ssize(ids) - limit.max_tokens;
  if (too_many <= 0) return false;
  if (!limit.truncate) check_length(std::ssize(ids), number, limit);
  const auto begin = limit.cut == Cut::beginning ? ids.begin() : ids.end() - too_many;
  ids.erase(begin, begin + too_many);
  return true;
}

}  // namespace heed::infer
