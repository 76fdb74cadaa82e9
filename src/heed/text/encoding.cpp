#include "heed/text/encoding.h"

#include <utility>

namespace heed::text {
namespace {

template <typename Value>
void append_all(std::vector<Value>& to, const std::vector<Value>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

template <typename Value>
void keep_some(std::vector<Value>& values, std::size_t begin, std::size_t end) {
  values.erase(values.begin() + static_cast<std::ptrdiff_t>(end), values.end());
  values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(begin));
}

}  // namespace

void Encoding::push_back(Token token) {
  ids.push_back(token.id);
  tokens.push_back(std::move(token.token));
  offsets.push_back(token.offsets);
  type_ids.push_back(token.type_id);
  attention_mask.push_back(token.attention);
  special_mask.push_back(token.special);
}

void Encoding::append(const Encoding& other) {
  append_all(ids, other.ids);
  append_all(tokens, other.tokens);
  append_all(offsets, other.offsets);
  append_all(type_ids, other.type_ids);
  append_all(attention_mask, other.attention_mask);
  append_all(special_mask, other.special_mask);
}

void Encoding::keep(std::size_t begin, std::size_t end) {
  keep_some(ids, begin, end);
  keep_some(tokens, begin, end);
  keep_some(offsets, begin, end);
  keep_some(type_ids, begin, end);
  keep_some(attention_mask, begin, end);
  keep_some(special_mask, begin, end);
}

}  // namespace heed::text
