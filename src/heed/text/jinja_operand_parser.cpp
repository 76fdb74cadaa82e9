// Operands: names, values, brackets, and what follows them.
#include <algorithm>
#include <charconv>

#include "heed/text/jinja_functions.h"
#include "heed/text/jinja_nodes.h"
#include "heed/text/jinja_parser.h"

namespace heed::text::jinja {
namespace {

using Kind = Token::Kind;

// Names that are no variables.
constexpr std::string_view keywords[] = {"and", "else", "if", "in", "is", "not", "or"};
// Functions of Jinja that are not here, and names that it has inside macros only.
constexpr std::string_view other_functions[] = {"lipsum", "cycler", "joiner"};
constexpr std::string_view macro_names[] = {"caller", "varargs", "kwargs"};

template <typename Names>
bool has(const Names& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

ExpressionPtr constant(int line, Value value) {
  auto expression = make_node<Constant>(line);
  expression->value = std::move(value);
  return expression;
}

}  // namespace

void ExpressionParser::enter_macro(
    const std::vector<std::pair<std::string, ExpressionPtr>>& parameters) {
  std::vector<std::string> hidden;
  for (const std::string_view name : macro_names) {
    const bool is_parameter =
        std::any_of(parameters.begin(), parameters.end(),
                    [&](const auto& parameter) { return parameter.first == name; });
    if (!is_parameter) hidden.emplace_back(name);
  }
  hidden_names_.push_back(std::move(hidden));
}

ExpressionPtr ExpressionParser::read_primary() {
  switch (tokens_.current().kind) {
    case Kind::name:
      return read_named();
    case Kind::string:
      return read_text();
    case Kind::integer:
    case Kind::floating:
      return read_number();
    default:
      break;
  }
  if (tokens_.current().is_symbol("(")) return read_parentheses();
  if (tokens_.current().is_symbol("[")) return read_list();
  if (tokens_.current().is_symbol("{")) return read_dict();
  tokens_.refuse_current("an expression");
}

ExpressionPtr ExpressionParser::read_named() {
  if (has(keywords, tokens_.current().value)) tokens_.refuse_current("an expression");
  const Token token = tokens_.take();
  if (token.value == "true" || token.value == "True") return constant(token.line, {true});
  if (token.value == "false" || token.value == "False") return constant(token.line, {false});
  if (token.value == "none" || token.value == "None") return constant(token.line, {None{}});
  const bool is_hidden = !hidden_names_.empty() && has(hidden_names_.back(), token.value);
  if (is_hidden) tokens_.refuse(token.line, "`", token.value, "` in a macro is not supported");
  auto name = make_node<Name>(token.line);
  name->name = token.value;
  return name;
}

ExpressionPtr ExpressionParser::read_text() {
  const int line = tokens_.line();
  std::string text;
  while (tokens_.current().kind == Kind::string) text += tokens_.take().value;
  return constant(line, {std::make_shared<const std::string>(std::move(text))});
}

ExpressionPtr ExpressionParser::read_number() {
  const Token token = tokens_.take();
  const char* begin = token.value.data();
  const char* end = begin + token.value.size();
  if (token.kind == Kind::floating) {
    double number = 0;
    const auto error = std::from_chars(begin, end, number).ec;
    if (error != std::errc()) tokens_.refuse(token.line, "expected a number, found ", token.value);
    return constant(token.line, {number});
  }
  std::int64_t number = 0;
  const auto error = std::from_chars(begin, end, number).ec;
  if (error != std::errc()) {
    tokens_.refuse(token.line, "expected an integer of 64 bits, found ", token.value);
  }
  return constant(token.line, {number});
}

ExpressionPtr ExpressionParser::read_parentheses() {
  const int line = tokens_.take().line;
  if (tokens_.skip_symbol(")")) {
    auto empty = make_node<ListLiteral>(line);
    empty->kind = List::Kind::tuple;
    return empty;
  }
  ExpressionPtr value = read_tuple();
  tokens_.expect_symbol(")");
  return value;
}

bool ExpressionParser::ends_tuple() const {
  const Token& token = tokens_.current();
  return token.kind == Kind::variable_end || token.kind == Kind::block_end || token.is_symbol(")");
}

ExpressionPtr ExpressionParser::read_tuple(bool with_condition) {
  const int line = tokens_.line();
  ExpressionPtr first = read(with_condition);
  if (!tokens_.current().is_symbol(",")) return first;
  auto whole = make_node<ListLiteral>(line);
  whole->kind = List::Kind::tuple;
  put(tokens_, *whole, whole->items, std::move(first));
  while (tokens_.skip_symbol(",") && !ends_tuple()) {
    put(tokens_, *whole, whole->items, read(with_condition));
  }
  return whole;
}

ExpressionPtr ExpressionParser::read_list() {
  auto whole = make_node<ListLiteral>(tokens_.take().line);
  while (!tokens_.skip_symbol("]")) {
    put(tokens_, *whole, whole->items, read());
    if (!tokens_.current().is_symbol("]")) tokens_.expect_symbol(",");
  }
  return whole;
}

ExpressionPtr ExpressionParser::read_dict() {
  auto whole = make_node<DictLiteral>(tokens_.take().line);
  while (!tokens_.skip_symbol("}")) {
    put(tokens_, *whole, whole->keys, read());
    tokens_.expect_symbol(":");
    put(tokens_, *whole, whole->values, read());
    if (!tokens_.current().is_symbol("}")) tokens_.expect_symbol(",");
  }
  return whole;
}

ExpressionPtr ExpressionParser::read_postfix(ExpressionPtr object) {
  while (true) {
    if (tokens_.current().is_symbol(".")) {
      object = read_attribute(std::move(object));
    } else if (tokens_.current().is_symbol("[")) {
      object = read_subscript(std::move(object));
    } else if (tokens_.current().is_symbol("(")) {
      object = read_call(std::move(object));
    } else {
      return object;
    }
  }
}

ExpressionPtr ExpressionParser::read_attribute(ExpressionPtr object) {
  const int line = tokens_.take().line;
  if (tokens_.current().kind == Kind::integer) {
    auto whole = make_node<Subscript>(line);
    put(tokens_, *whole, whole->object, std::move(object));
    put(tokens_, *whole, whole->key, read_number());
    return whole;
  }
  auto whole = make_node<Attribute>(line);
  put(tokens_, *whole, whole->object, std::move(object));
  whole->name = tokens_.expect(Kind::name, "a name after a dot").value;
  return whole;
}

ExpressionPtr ExpressionParser::read_subscript(ExpressionPtr object) {
  const int line = tokens_.take().line;
  ExpressionPtr first;
  if (!tokens_.current().is_symbol(":")) first = read();
  if (tokens_.current().is_symbol(",")) {
    tokens_.refuse(line, "several values between [ and ] after a value are not supported");
  }
  if (first && tokens_.skip_symbol("]")) {
    auto whole = make_node<Subscript>(line);
    put(tokens_, *whole, whole->object, std::move(object));
    put(tokens_, *whole, whole->key, std::move(first));
    return whole;
  }
  auto whole = make_node<Slice>(line);
  put(tokens_, *whole, whole->object, std::move(object));
  if (first) put(tokens_, *whole, whole->start, std::move(first));
  for (ExpressionPtr* place : {&whole->stop, &whole->step}) {
    if (!tokens_.skip_symbol(":")) break;
    const bool is_empty = tokens_.current().is_symbol(":") || tokens_.current().is_symbol("]");
    if (!is_empty) put(tokens_, *whole, *place, read());
  }
  tokens_.expect_symbol("]");
  return whole;
}

ArgumentList ExpressionParser::read_arguments() {
  ArgumentList arguments;
  tokens_.expect_symbol("(");
  while (!tokens_.skip_symbol(")")) {
    if (tokens_.current().is_symbol("*") || tokens_.current().is_symbol("**")) {
      tokens_.refuse(tokens_.line(), "* and ** before arguments are not supported");
    }
    if (tokens_.current().kind == Kind::name && tokens_.following().is_symbol("=")) {
      std::string name = tokens_.take().value;
      tokens_.take();
      arguments.named.emplace_back(std::move(name), read());
    } else {
      if (!arguments.named.empty()) tokens_.refuse_current("an argument with a name");
      arguments.positional.push_back(read());
    }
    if (!tokens_.current().is_symbol(")")) tokens_.expect_symbol(",");
  }
  return arguments;
}

void ExpressionParser::check_callee(const Expression& callee, int line) const {
  if (const auto* method = dynamic_cast<const Attribute*>(&callee)) {
    if (!is_method(method->name)) {
      tokens_.refuse(line, "the method ", method->name, " is not supported");
    }
  }
  if (const auto* function = dynamic_cast<const Name*>(&callee)) {
    if (has(other_functions, function->name)) {
      tokens_.refuse(line, "the function ", function->name, " is not supported");
    }
    if (function->name == "loop") {
      tokens_.refuse(line, "a call of loop, which is recursive, is not supported");
    }
  }
}

ExpressionPtr ExpressionParser::read_call(ExpressionPtr callee) {
  auto whole = make_node<Call>(tokens_.line());
  check_callee(*callee, whole->line);
  put(tokens_, *whole, whole->callee, std::move(callee));
  put(tokens_, *whole, whole->arguments, read_arguments());
  return whole;
}

ExpressionPtr ExpressionParser::read_filters_and_tests(ExpressionPtr object) {
  while (true) {
    if (tokens_.current().is_symbol("|")) {
      object = read_filter(std::move(object));
    } else if (tokens_.current().is_name("is")) {
      object = read_test(std::move(object));
    } else if (tokens_.current().is_symbol("(")) {
      object = read_call(std::move(object));
    } else {
      return object;
    }
  }
}

Filter ExpressionParser::read_filter_name() {
  const Token name = tokens_.expect(Kind::name, "the name of a filter");
  const Filter filter = find_filter(name.value);
  if (!filter) tokens_.refuse(name.line, "the filter ", name.value, " is not supported");
  return filter;
}

// map('upper') and select('odd') name a filter or a test.
void ExpressionParser::check_named_parts(const std::string& filter, const ArgumentList& arguments,
                                         int line) const {
  const bool by_attribute = filter == "selectattr" || filter == "rejectattr";
  const bool is_select = by_attribute || filter == "select" || filter == "reject";
  const std::size_t place = by_attribute ? 1 : 0;
  if ((filter != "map" && !is_select) || arguments.positional.size() <= place) return;
  const auto* name = dynamic_cast<const Constant*>(arguments.positional[place].get());
  if (!name || !name->value.is_text()) return;
  const std::string& text = *name->value.text();
  const bool is_known = is_select ? find_test(text) != nullptr : find_filter(text) != nullptr;
  if (!is_known) {
    tokens_.refuse(line, "the ", is_select ? "test " : "filter ", text, " is not supported");
  }
}

ExpressionPtr ExpressionParser::read_filter(ExpressionPtr object) {
  auto whole = make_node<FilterCall>(tokens_.take().line);
  const std::string name = tokens_.current().value;
  whole->filter = read_filter_name();
  put(tokens_, *whole, whole->object, std::move(object));
  if (tokens_.current().is_symbol("(")) {
    ArgumentList arguments = read_arguments();
    check_named_parts(name, arguments, whole->line);
    put(tokens_, *whole, whole->arguments, std::move(arguments));
  }
  if (name == "safe" && tokens_.current().kind != Kind::variable_end) {
    tokens_.refuse(whole->line, "the filter safe is supported only at the end of {{ ... }}");
  }
  return whole;
}

FilterChain ExpressionParser::read_filters(bool at_name) {
  FilterChain filters;
  while (at_name || tokens_.skip_symbol("|")) {
    at_name = false;
    const int line = tokens_.line();
    const std::string name = tokens_.current().value;
    if (name == "safe") tokens_.refuse(line, "the filter safe of a block is not supported");
    const Filter filter = read_filter_name();
    ArgumentList arguments;
    if (tokens_.current().is_symbol("(")) arguments = read_arguments();
    check_named_parts(name, arguments, line);
    filters.emplace_back(filter, std::move(arguments));
  }
  return filters;
}

ExpressionPtr ExpressionParser::read_test(ExpressionPtr object) {
  auto whole = make_node<TestCall>(tokens_.take().line);
  const bool is_negated = tokens_.skip_name("not");
  const Token name = tokens_.expect(Kind::name, "the name of a test");
  whole->test = find_test(name.value);
  if (!whole->test) tokens_.refuse(name.line, "the test ", name.value, " is not supported");
  put(tokens_, *whole, whole->object, std::move(object));
  const Token& next = tokens_.current();
  const bool is_operator = next.is_name("else") || next.is_name("or") || next.is_name("and");
  const bool has_value = next.kind == Kind::name || next.kind == Kind::string ||
                         next.kind == Kind::integer || next.kind == Kind::floating ||
                         next.is_symbol("[") || next.is_symbol("{");
  if (next.is_symbol("(")) {
    put(tokens_, *whole, whole->arguments, read_arguments());
  } else if (has_value && !is_operator) {
    put(tokens_, *whole, whole->arguments.positional, read_postfix(read_primary()));
  }
  if (!is_negated) return whole;
  auto negation = make_node<Not>(whole->line);
  put(tokens_, *negation, negation->operand, std::move(whole));
  return negation;
}

}  // namespace heed::text::jinja
