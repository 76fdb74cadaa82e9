#include "heed/text/jinja_parser.h"

#include <algorithm>

#include "heed/text/jinja_nodes.h"

namespace heed::text::jinja {

using Kind = Token::Kind;

Token TokenStream::take() {
  const Token& token = tokens_[at_];
  if (token.kind != Kind::end) ++at_;
  return token;
}

bool TokenStream::skip_symbol(std::string_view symbol) {
  if (!current().is_symbol(symbol)) return false;
  take();
  return true;
}

bool TokenStream::skip_name(std::string_view name) {
  if (!current().is_name(name)) return false;
  take();
  return true;
}

void TokenStream::expect_symbol(std::string_view symbol) {
  if (!skip_symbol(symbol)) refuse_current(symbol);
}

void TokenStream::expect_name(std::string_view name) {
  if (!skip_name(name)) refuse_current(name);
}

Token TokenStream::expect(Token::Kind kind, std::string_view what) {
  if (current().kind != kind) refuse_current(what);
  return take();
}

std::string TokenStream::description() const {
  switch (current().kind) {
    case Kind::text:
    case Kind::variable_begin:
    case Kind::block_begin:
      return "text";
    case Kind::variable_end:
      return "}}";
    case Kind::block_end:
      return "%}";
    case Kind::end:
      return "the end of the template";
    case Kind::string:
      return "a string";
    default:
      return current().value;
  }
}

TokenStream::Nesting::Nesting(TokenStream& tokens) : tokens_(tokens) {
  constexpr int max_nesting = 100;
  if (tokens_.nesting_ == max_nesting) {
    tokens_.refuse(tokens_.line(), "expected at most ", max_nesting, " things inside each other");
  }
  ++tokens_.nesting_;
}

Block StatementParser::read() { return read_until({}); }

Block StatementParser::read_until(std::initializer_list<std::string_view> ends) {
  const TokenStream::Nesting nesting(tokens_);
  Block block;
  while (tokens_.current().kind != Kind::end) {
    if (tokens_.current().kind == Kind::text) {
      auto text = make_node<TextStatement>(tokens_.line());
      text->text = tokens_.take().value;
      block.push_back(std::move(text));
    } else if (tokens_.current().kind == Kind::variable_begin) {
      block.push_back(read_print());
    } else {
      tokens_.take();
      const Token& name = tokens_.current();
      const bool is_end =
          name.kind == Kind::name && std::find(ends.begin(), ends.end(), name.value) != ends.end();
      if (is_end) return block;
      block.push_back(read_statement());
    }
  }
  if (ends.size() > 0) tokens_.refuse_current("{% " + std::string(*(ends.end() - 1)) + " %}");
  return block;
}

void StatementParser::end_tag() { tokens_.expect(Kind::block_end, "%}"); }

Block StatementParser::read_body(std::string_view end) {
  end_tag();
  Block body = read_until({end});
  tokens_.take();
  end_tag();
  return body;
}

Block StatementParser::read_closed_body(std::string_view end) {
  const int loops_around = std::exchange(num_loops_, 0);
  Block body = read_body(end);
  num_loops_ = loops_around;
  return body;
}

StatementParser::Statement StatementParser::read_print() {
  auto print = make_node<PrintStatement>(tokens_.take().line);
  print->value = expressions_.read_tuple();
  tokens_.expect(Kind::variable_end, "}}");
  return print;
}

StatementParser::Statement StatementParser::read_statement() {
  const Token name = tokens_.expect(Kind::name, "the name of a statement");
  if (name.value == "if") return read_if(name.line);
  if (name.value == "for") return read_for(name.line);
  if (name.value == "break") return read_flow(Flow::break_loop, name.line);
  if (name.value == "continue") return read_flow(Flow::continue_loop, name.line);
  if (name.value == "set") return read_set(name.line);
  if (name.value == "filter") return read_filter(name.line);
  if (name.value == "with") return read_with(name.line);
  if (name.value == "generation") return read_generation(name.line);
  if (name.value == "macro") return read_macro(name.line);
  refuse_tag(name);
}

void StatementParser::refuse_tag(const Token& name) {
  if (name.value.starts_with("end") || name.value == "else" || name.value == "elif") {
    tokens_.refuse(name.line, "found {% ", name.value, " %} without its beginning");
  }
  tokens_.refuse(name.line, "the statement ", name.value, " is not supported");
}

StatementParser::Statement StatementParser::read_if(int line) {
  auto statement = make_node<IfStatement>(line);
  while (true) {
    ExpressionPtr condition = expressions_.read_tuple(/*with_condition=*/false);
    end_tag();
    statement->branches.emplace_back(std::move(condition), read_until({"elif", "else", "endif"}));
    if (tokens_.skip_name("elif")) continue;
    if (tokens_.skip_name("else")) {
      statement->otherwise = read_body("endif");
    } else {
      tokens_.take();
      end_tag();
    }
    return statement;
  }
}

StatementParser::Statement StatementParser::read_for(int line) {
  auto statement = make_node<ForStatement>(line);
  statement->target = read_target(/*with_fields=*/false);
  tokens_.expect_name("in");
  statement->items = expressions_.read_tuple(/*with_condition=*/false);
  if (tokens_.skip_name("if")) statement->condition = expressions_.read();
  if (tokens_.current().is_name("recursive")) {
    tokens_.refuse(line, "a recursive loop is not supported");
  }
  end_tag();
  ++num_loops_;
  statement->body = read_until({"else", "endfor"});
  --num_loops_;
  if (tokens_.take().value == "else") {
    statement->otherwise = read_body("endfor");
  } else {
    end_tag();
  }
  return statement;
}

StatementParser::Statement StatementParser::read_flow(Flow flow, int line) {
  if (num_loops_ == 0) tokens_.refuse(line, "found break or continue outside of a loop");
  auto statement = make_node<FlowStatement>(line);
  statement->flow = flow;
  end_tag();
  return statement;
}

StatementParser::Statement StatementParser::read_set(int line) {
  Target target = read_target(/*with_fields=*/true);
  if (tokens_.skip_symbol("=")) {
    auto statement = make_node<SetStatement>(line);
    statement->target = std::move(target);
    statement->value = expressions_.read_tuple();
    end_tag();
    return statement;
  }
  auto statement = make_node<SetBlockStatement>(line);
  statement->target = std::move(target);
  statement->filters = expressions_.read_filters(/*at_name=*/false);
  statement->body = read_closed_body("endset");
  return statement;
}

StatementParser::Statement StatementParser::read_filter(int line) {
  auto statement = make_node<FilterStatement>(line);
  statement->filters = expressions_.read_filters(/*at_name=*/true);
  statement->body = read_closed_body("endfilter");
  return statement;
}

StatementParser::Statement StatementParser::read_with(int line) {
  auto statement = make_node<ScopeStatement>(line);
  while (tokens_.current().kind != Kind::block_end) {
    if (!statement->values.empty()) tokens_.expect_symbol(",");
    Target target = read_single_target(/*with_fields=*/false);
    tokens_.expect_symbol("=");
    statement->values.emplace_back(std::move(target), expressions_.read());
  }
  statement->body = read_body("endwith");
  return statement;
}

// Marks what the assistant says, for training; it changes nothing else.
StatementParser::Statement StatementParser::read_generation(int line) {
  auto statement = make_node<ScopeStatement>(line);
  statement->body = read_closed_body("endgeneration");
  return statement;
}

StatementParser::Statement StatementParser::read_macro(int line) {
  auto statement = make_node<MacroStatement>(line);
  statement->name = tokens_.expect(Kind::name, "the name of a macro").value;
  tokens_.expect_symbol("(");
  bool has_default = false;
  while (!tokens_.skip_symbol(")")) {
    std::string name = tokens_.expect(Kind::name, "the name of a parameter").value;
    ExpressionPtr fallback;
    if (tokens_.skip_symbol("=")) fallback = expressions_.read();
    if (has_default && !fallback) tokens_.refuse_current("a default of the parameter " + name);
    has_default = fallback != nullptr;
    statement->parameters.emplace_back(std::move(name), std::move(fallback));
    if (!tokens_.current().is_symbol(")")) tokens_.expect_symbol(",");
  }
  expressions_.enter_macro(statement->parameters);
  statement->body = read_closed_body("endmacro");
  expressions_.leave_macro();
  return statement;
}

Target StatementParser::read_single_target(bool with_fields) {
  const TokenStream::Nesting nesting(tokens_);
  if (tokens_.skip_symbol("(")) {
    Target target = read_target(with_fields);
    tokens_.expect_symbol(")");
    return target;
  }
  Target target{.name = tokens_.expect(Kind::name, "a name to assign to").value};
  static constexpr std::string_view constants[] = {"true",  "True", "false",
                                                   "False", "none", "None"};
  if (std::find(std::begin(constants), std::end(constants), target.name) != std::end(constants)) {
    tokens_.refuse(tokens_.line(), "expected a name to assign to, found ", target.name);
  }
  if (with_fields && tokens_.skip_symbol(".")) {
    target.field = tokens_.expect(Kind::name, "a field of a namespace").value;
  }
  return target;
}

Target StatementParser::read_target(bool with_fields) {
  Target first = read_single_target(with_fields);
  if (!tokens_.current().is_symbol(",")) return first;
  Target tuple{.is_tuple = true};
  tuple.parts.push_back(std::move(first));
  while (tokens_.skip_symbol(",")) {
    const Token& next = tokens_.current();
    if (next.is_name("in") || next.is_symbol("=") || next.is_symbol(")")) break;
    tuple.parts.push_back(read_single_target(with_fields));
  }
  return tuple;
}

}  // namespace heed::text::jinja
