// Nodes of a template's tree while they are put together.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "heed/text/jinja_parser.h"

namespace heed::text::jinja {

inline constexpr int max_expression_depth = 200;  // of expressions inside each other

// An expression or a statement.
template <typename T>
std::unique_ptr<T> make_node(int line) {
  auto node = std::make_unique<T>();
  node->line = line;
  return node;
}

// Puts a part into an expression, which gets deeper by it.
inline void put(const TokenStream& tokens, Expression& whole, ExpressionPtr& place,
                ExpressionPtr part) {
  whole.depth = std::max(whole.depth, part->depth + 1);
  if (whole.depth > max_expression_depth) {
    tokens.refuse(whole.line, "expected at most ", max_expression_depth,
                  " expressions inside each other");
  }
  place = std::move(part);
}

inline void put(const TokenStream& tokens, Expression& whole, ExpressionList& place,
                ExpressionPtr part) {
  place.emplace_back();
  put(tokens, whole, place.back(), std::move(part));
}

inline void put(const TokenStream& tokens, Expression& whole, ArgumentList& place,
                ArgumentList part) {
  for (ExpressionPtr& value : part.positional) {
    put(tokens, whole, place.positional, std::move(value));
  }
  for (auto& [name, value] : part.named) {
    place.named.emplace_back(name, nullptr);
    put(tokens, whole, place.named.back().second, std::move(value));
  }
}

}  // namespace heed::text::jinja
