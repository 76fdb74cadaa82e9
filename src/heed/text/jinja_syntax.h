// The tree of a template: expressions that have a value, and statements that write text.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/text/jinja_arguments.h"
#include "heed/text/jinja_filters.h"
#include "heed/text/jinja_operators.h"
#include "heed/text/jinja_tests.h"
#include "heed/text/jinja_value.h"

namespace heed::text::jinja {

// Names and their values. A name that is not here is looked for in the scope around.
class Scope {
 public:
  explicit Scope(const Scope* around) : around_(around) {}
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  const Value* find(std::string_view name) const;
  void set(const std::string& name, Value value);

 private:
  const Scope* around_;
  std::map<std::string, Value, std::less<>> values_;
};

struct Expression {
  virtual ~Expression() = default;
  Value evaluate(Run& run, const Scope& scope) const;

  int line = 1;
  int depth = 1;  // of expressions inside each other

 protected:
  virtual Value compute(Run& run, const Scope& scope) const = 0;
};
using ExpressionPtr = std::unique_ptr<const Expression>;
using ExpressionList = std::vector<ExpressionPtr>;

struct Constant : Expression {
  Value value;
  Value compute(Run& run, const Scope& scope) const override;
};

struct Name : Expression {
  std::string name;
  Value compute(Run& run, const Scope& scope) const override;
};

struct ListLiteral : Expression {
  ExpressionList items;
  List::Kind kind = List::Kind::list;
  Value compute(Run& run, const Scope& scope) const override;
};

struct DictLiteral : Expression {
  ExpressionList keys, values;
  Value compute(Run& run, const Scope& scope) const override;
};

struct Attribute : Expression {  // object.name
  ExpressionPtr object;
  std::string name;
  Value compute(Run& run, const Scope& scope) const override;
};

struct Subscript : Expression {  // object[key]
  ExpressionPtr object, key;
  Value compute(Run& run, const Scope& scope) const override;
};

struct Slice : Expression {  // object[start:stop:step], each of them may be null
  ExpressionPtr object, start, stop, step;
  Value compute(Run& run, const Scope& scope) const override;
};

struct ArgumentList {
  ExpressionList positional;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
  Arguments evaluate(Run& run, const Scope& scope) const;
};

struct Call : Expression {
  ExpressionPtr callee;
  ArgumentList arguments;
  Value compute(Run& run, const Scope& scope) const override;
};

struct FilterCall : Expression {  // object|filter(arguments)
  ExpressionPtr object;
  Filter filter = nullptr;
  ArgumentList arguments;
  Value compute(Run& run, const Scope& scope) const override;
};

struct TestCall : Expression {  // object is test(arguments)
  ExpressionPtr object;
  Test test = nullptr;
  ArgumentList arguments;
  Value compute(Run& run, const Scope& scope) const override;
};

struct Not : Expression {
  ExpressionPtr operand;
  Value compute(Run& run, const Scope& scope) const override;
};

struct Sign : Expression {  // -operand, +operand
  ExpressionPtr operand;
  bool is_minus = false;
  Value compute(Run& run, const Scope& scope) const override;
};

struct Binary : Expression {
  Arithmetic operation = {};
  ExpressionPtr left, right;
  Value compute(Run& run, const Scope& scope) const override;
};

struct Concatenation : Expression {  // a ~ b ~ c
  ExpressionList parts;
  Value compute(Run& run, const Scope& scope) const override;
};

struct Logical : Expression {  // one of its operands: the first one that decides
  bool is_and = false;
  ExpressionPtr left, right;
  Value compute(Run& run, const Scope& scope) const override;
};

struct Comparisons : Expression {  // first < second <= third
  ExpressionPtr first;
  std::vector<std::pair<Comparison, ExpressionPtr>> others;
  Value compute(Run& run, const Scope& scope) const override;
};

struct Conditional : Expression {  // value if condition else otherwise; the last may be null
  ExpressionPtr condition, value, otherwise;
  Value compute(Run& run, const Scope& scope) const override;
};

// What a value is assigned to: a name, a namespace's field, or several of them.
struct Target {
  std::string name = {};
  std::string field = {};          // of the namespace `name`; empty: the name itself
  std::vector<Target> parts = {};  // of a tuple
  bool is_tuple = false;

  void assign(Run& run, Scope& scope, Value value) const;
};

enum class Flow { next, break_loop, continue_loop };

struct Statement {
  virtual ~Statement() = default;
  virtual Flow render(Run& run, Scope& scope, std::string& out) const = 0;
  int line = 1;
};
using Block = std::vector<std::unique_ptr<const Statement>>;

Flow render_block(Run& run, Scope& scope, std::string& out, const Block& block);

struct TextStatement : Statement {
  std::string text;
  Flow render(Run& run, Scope& scope, std::string& out) const override;
};

struct PrintStatement : Statement {
  ExpressionPtr value;
  Flow render(Run& run, Scope& scope, std::string& out) const override;
};

struct IfStatement : Statement {
  std::vector<std::pair<ExpressionPtr, Block>> branches;
  Block otherwise;
  Flow render(Run& run, Scope& scope, std::string& out) const override;
};

struct ForStatement : Statement {
  Target target;
  ExpressionPtr items, condition;  // the condition may be null
  Block body, otherwise;
  Flow render(Run& run, Scope& scope, std::string& out) const override;

 private:
  std::vector<Value> chosen_items(Run& run, const Scope& scope) const;
};

struct FlowStatement : Statement {  // break, continue
  Flow flow = Flow::next;
  Flow render(Run& run, Scope& scope, std::string& out) const override;
};

struct SetStatement : Statement {
  Target target;
  ExpressionPtr value;
  Flow render(Run& run, Scope& scope, std::string& out) const override;
};

// Filters of a block's text, one after another.
using FilterChain = std::vector<std::pair<Filter, ArgumentList>>;

struct SetBlockStatement : Statement {
  Target target;
  FilterChain filters;
  Block body;
  Flow render(Run& run, Scope& scope, std::string& out) const override;
};

struct FilterStatement : Statement {
  FilterChain filters;
  Block body;
  Flow render(Run& run, Scope& scope, std::string& out) const override;
};

struct ScopeStatement : Statement {  // with, generation
  std::vector<std::pair<Target, ExpressionPtr>> values;
  Block body;
  Flow render(Run& run, Scope& scope, std::string& out) const override;
};

struct MacroStatement : Statement {
  std::string name;
  std::vector<std::pair<std::string, ExpressionPtr>> parameters;  // the default may be null
  Block body;
  Flow render(Run& run, Scope& scope, std::string& out) const override;
  Value call(Run& run, const Scope& around, const Arguments& arguments) const;
};

}  // namespace heed::text::jinja
