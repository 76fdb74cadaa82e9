// Expressions by their operators, from the weakest to the strongest.
#include <algorithm>
#include <optional>

#include "heed/text/jinja_nodes.h"
#include "heed/text/jinja_parser.h"

namespace heed::text::jinja {

ExpressionPtr ExpressionParser::read(bool with_condition) {
  const TokenStream::Nesting nesting(tokens_);
  ExpressionPtr value = read_or();
  while (with_condition && tokens_.current().is_name("if")) {
    auto whole = make_node<Conditional>(tokens_.take().line);
    put(tokens_, *whole, whole->value, std::move(value));
    put(tokens_, *whole, whole->condition, read_or());
    if (tokens_.skip_name("else")) put(tokens_, *whole, whole->otherwise, read());
    value = std::move(whole);
  }
  return value;
}

ExpressionPtr ExpressionParser::read_or() {
  ExpressionPtr left = read_and();
  while (tokens_.current().is_name("or")) {
    auto whole = make_node<Logical>(tokens_.take().line);
    put(tokens_, *whole, whole->left, std::move(left));
    put(tokens_, *whole, whole->right, read_and());
    left = std::move(whole);
  }
  return left;
}

ExpressionPtr ExpressionParser::read_and() {
  ExpressionPtr left = read_not();
  while (tokens_.current().is_name("and")) {
    auto whole = make_node<Logical>(tokens_.take().line);
    whole->is_and = true;
    put(tokens_, *whole, whole->left, std::move(left));
    put(tokens_, *whole, whole->right, read_not());
    left = std::move(whole);
  }
  return left;
}

ExpressionPtr ExpressionParser::read_not() {
  if (!tokens_.current().is_name("not")) return read_comparisons();
  const TokenStream::Nesting nesting(tokens_);
  auto whole = make_node<Not>(tokens_.take().line);
  put(tokens_, *whole, whole->operand, read_not());
  return whole;
}

namespace {

std::optional<Comparison> read_comparison(TokenStream& tokens) {
  static constexpr std::pair<std::string_view, Comparison> symbols[] = {
      {"==", Comparison::equal},  {"!=", Comparison::unequal},
      {"<", Comparison::less},    {"<=", Comparison::less_equal},
      {">", Comparison::greater}, {">=", Comparison::greater_equal},
  };
  for (const auto& [symbol, comparison] : symbols) {
    if (tokens.skip_symbol(symbol)) return comparison;
  }
  if (tokens.skip_name("in")) return Comparison::in;
  if (tokens.current().is_name("not") && tokens.following().is_name("in")) {
    tokens.take();
    tokens.take();
    return Comparison::not_in;
  }
  return std::nullopt;
}

}  // namespace

ExpressionPtr ExpressionParser::read_comparisons() {
  const int line = tokens_.line();
  ExpressionPtr first = read_sum();
  std::optional<Comparison> comparison = read_comparison(tokens_);
  if (!comparison) return first;
  auto whole = make_node<Comparisons>(line);
  put(tokens_, *whole, whole->first, std::move(first));
  for (; comparison; comparison = read_comparison(tokens_)) {
    whole->others.emplace_back(*comparison, nullptr);
    put(tokens_, *whole, whole->others.back().second, read_sum());
  }
  return whole;
}

namespace {

template <typename ReadOperand>
ExpressionPtr read_binary(TokenStream& tokens,
                          std::initializer_list<std::pair<std::string_view, Arithmetic>> symbols,
                          const ReadOperand& read_operand) {
  ExpressionPtr left = read_operand();
  while (true) {
    const auto found = std::find_if(symbols.begin(), symbols.end(), [&](const auto& symbol) {
      return tokens.current().is_symbol(symbol.first);
    });
    if (found == symbols.end()) return left;
    auto whole = make_node<Binary>(tokens.take().line);
    whole->operation = found->second;
    put(tokens, *whole, whole->left, std::move(left));
    put(tokens, *whole, whole->right, read_operand());
    left = std::move(whole);
  }
}

}  // namespace

ExpressionPtr ExpressionParser::read_sum() {
  return read_binary(tokens_, {{"+", Arithmetic::add}, {"-", Arithmetic::subtract}},
                     [this] { return read_concatenation(); });
}

ExpressionPtr ExpressionParser::read_concatenation() {
  const int line = tokens_.line();
  ExpressionPtr first = read_product();
  if (!tokens_.current().is_symbol("~")) return first;
  auto whole = make_node<Concatenation>(line);
  put(tokens_, *whole, whole->parts, std::move(first));
  while (tokens_.skip_symbol("~")) put(tokens_, *whole, whole->parts, read_product());
  return whole;
}

ExpressionPtr ExpressionParser::read_product() {
  return read_binary(tokens_,
                     {{"*", Arithmetic::multiply},
                      {"/", Arithmetic::divide},
                      {"//", Arithmetic::floor_divide},
                      {"%", Arithmetic::modulo}},
                     [this] { return read_power(); });
}

ExpressionPtr ExpressionParser::read_power() {
  return read_binary(tokens_, {{"**", Arithmetic::power}}, [this] { return read_sign(); });
}

ExpressionPtr ExpressionParser::read_sign(bool with_filters) {
  const TokenStream::Nesting nesting(tokens_);
  const bool is_minus = tokens_.current().is_symbol("-");
  ExpressionPtr value;
  if (is_minus || tokens_.current().is_symbol("+")) {
    auto whole = make_node<Sign>(tokens_.take().line);
    whole->is_minus = is_minus;
    put(tokens_, *whole, whole->operand, read_sign(false));
    value = std::move(whole);
  } else {
    value = read_primary();
  }
  value = read_postfix(std::move(value));
  return with_filters ? read_filters_and_tests(std::move(value)) : std::move(value);
}

}  // namespace heed::text::jinja
