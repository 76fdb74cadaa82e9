// Reads tokens as a tree. What a template may not use is refused here, with its line.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/text/jinja_lexer.h"
#include "heed/text/jinja_syntax.h"

namespace heed::text::jinja {

// The tokens, one after another.
class TokenStream {
 public:
  TokenStream(std::vector<Token> tokens, std::string name)
      : tokens_(std::move(tokens)), name_(std::move(name)) {}

  const Token& current() const { return tokens_[at_]; }
  const Token& following() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  int line() const { return current().line; }
  Token take();
  // Takes the current token if it is this one.
  bool skip_symbol(std::string_view symbol);
  bool skip_name(std::string_view name);
  void expect_symbol(std::string_view symbol);
  void expect_name(std::string_view name);
  Token expect(Token::Kind kind, std::string_view what);

  // How the current token looks in messages.
  std::string description() const;
  template <typename... Parts>
  [[noreturn]] void refuse(int line, const Parts&... parts) const {
    heed::fail(ErrorKind::model, name_, ":", line, ": ", parts...);
  }
  [[noreturn]] void refuse_current(std::string_view expected) const {
    refuse(line(), "expected ", expected, ", found ", description());
  }

  // One thing inside another, while it is read.
  class Nesting {
   public:
    explicit Nesting(TokenStream& tokens);
    ~Nesting() { --tokens_.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    TokenStream& tokens_;
  };

 private:
  std::vector<Token> tokens_;
  std::string name_;
  std::size_t at_ = 0;
  int nesting_ = 0;
};

class ExpressionParser {
 public:
  explicit ExpressionParser(TokenStream& tokens) : tokens_(tokens) {}

  ExpressionPtr read(bool with_condition = true);
  // Several expressions with commas are a tuple.
  ExpressionPtr read_tuple(bool with_condition = true);
  ArgumentList read_arguments();
  // |name(arguments), `at_name`: the first one has no | before it.
  FilterChain read_filters(bool at_name);

  // Names that mean something else inside a macro, and are not supported there.
  void enter_macro(const std::vector<std::pair<std::string, ExpressionPtr>>& parameters);
  void leave_macro() { hidden_names_.pop_back(); }

 private:
  ExpressionPtr read_or();
  ExpressionPtr read_and();
  ExpressionPtr read_not();
  ExpressionPtr read_comparisons();
  ExpressionPtr read_sum();
  ExpressionPtr read_concatenation();
  ExpressionPtr read_product();
  ExpressionPtr read_power();
  ExpressionPtr read_sign(bool with_filters = true);
  ExpressionPtr read_primary();
  ExpressionPtr read_named();
  ExpressionPtr read_text();
  ExpressionPtr read_number();
  ExpressionPtr read_parentheses();
  ExpressionPtr read_list();
  ExpressionPtr read_dict();
  ExpressionPtr read_postfix(ExpressionPtr object);
  ExpressionPtr read_attribute(ExpressionPtr object);
  ExpressionPtr read_subscript(ExpressionPtr object);
  ExpressionPtr read_call(ExpressionPtr callee);
  ExpressionPtr read_filters_and_tests(ExpressionPtr object);
  ExpressionPtr read_filter(ExpressionPtr object);
  ExpressionPtr read_test(ExpressionPtr object);
  Filter read_filter_name();
  void check_named_parts(const std::string& filter, const ArgumentList& arguments, int line) const;
  void check_callee(const Expression& callee, int line) const;
  bool ends_tuple() const;

  TokenStream& tokens_;
  std::vector<std::vector<std::string>> hidden_names_;
};

class StatementParser {
 public:
  StatementParser(std::vector<Token> tokens, std::string name)
      : tokens_(std::move(tokens), std::move(name)), expressions_(tokens_) {}

  Block read();

 private:
  using Statement = std::unique_ptr<const jinja::Statement>;

  // Up to one of these tags; the stream is then at its name.
  Block read_until(std::initializer_list<std::string_view> ends);
  // The rest of a tag, then its body and the end tag.
  Block read_body(std::string_view end);
  Statement read_print();
  Statement read_statement();
  Statement read_if(int line);
  Statement read_for(int line);
  Statement read_flow(Flow flow, int line);
  Statement read_set(int line);
  Statement read_filter(int line);
  Statement read_with(int line);
  Statement read_generation(int line);
  Statement read_macro(int line);
  [[noreturn]] void refuse_tag(const Token& name);
  Target read_target(bool with_fields);
  Target read_single_target(bool with_fields);
  // A body that break and continue cannot leave.
  Block read_closed_body(std::string_view end);
  void end_tag();

  TokenStream tokens_;
  ExpressionParser expressions_;
  int num_loops_ = 0;  // around the current statement
};

}  // namespace heed::text::jinja
