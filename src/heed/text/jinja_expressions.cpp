// Expressions, from the tree to their values.
#include "heed/text/jinja_functions.h"
#include "heed/text/jinja_run.h"
#include "heed/text/jinja_syntax.h"

namespace heed::text::jinja {

const Value* Scope::find(std::string_view name) const {
  for (const Scope* scope = this; scope; scope = scope->around_) {
    const auto found = scope->values_.find(name);
    if (found != scope->values_.end()) return &found->second;
  }
  return nullptr;
}

void Scope::set(const std::string& name, Value value) {
  values_.insert_or_assign(name, std::move(value));
}

Value Expression::evaluate(Run& run, const Scope& scope) const {
  const Run::Level level(run);
  run.charge(1);
  const int line_around = run.line();
  run.go_to_line(line);
  Value value = compute(run, scope);
  run.go_to_line(line_around);
  return value;
}

Value Constant::compute(Run&, const Scope&) const { return value; }

Value Name::compute(Run&, const Scope& scope) const {
  const Value* found = scope.find(name);
  return found ? *found : undefined("`" + name + "` is undefined");
}

namespace {

std::vector<Value> evaluate_all(Run& run, const Scope& scope, const ExpressionList& expressions) {
  std::vector<Value> values;
  for (const ExpressionPtr& expression : expressions) {
    values.push_back(expression->evaluate(run, scope));
  }
  return values;
}

}  // namespace

Value ListLiteral::compute(Run& run, const Scope& scope) const {
  return list_value(run, evaluate_all(run, scope, items), kind);
}

Value DictLiteral::compute(Run& run, const Scope& scope) const {
  Dict dict;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Value key = keys[i]->evaluate(run, scope);
    if (!key.is_text())
      run.fail("expected a string as the key of a dict, found a ", type_name(key));
    dict.set(*key.text(), values[i]->evaluate(run, scope));
  }
  return dict_value(run, std::move(dict));
}

Value Attribute::compute(Run& run, const Scope& scope) const {
  return attribute(run, object->evaluate(run, scope), name);
}

Value Subscript::compute(Run& run, const Scope& scope) const {
  const Value whole = object->evaluate(run, scope);
  return element(run, whole, key->evaluate(run, scope));
}

Value Slice::compute(Run& run, const Scope& scope) const {
  const auto end = [&](const ExpressionPtr& expression) {
    return expression ? expression->evaluate(run, scope) : Value{None{}};
  };
  const Value whole = object->evaluate(run, scope);
  const Value first = end(start), last = end(stop);
  return slice(run, whole, first, last, end(step));
}

Arguments ArgumentList::evaluate(Run& run, const Scope& scope) const {
  Arguments arguments{.positional = evaluate_all(run, scope, positional)};
  for (const auto& [name, value] : named) {
    arguments.named.emplace_back(name, value->evaluate(run, scope));
  }
  return arguments;
}

Value Call::compute(Run& run, const Scope& scope) const {
  const Value called = callee->evaluate(run, scope);
  if (const Undefined* none = std::get_if<Undefined>(&called.data)) {
    run.fail("expected a function, found nothing: ", *none->what);
  }
  const Arguments values = arguments.evaluate(run, scope);
  if (const Macro* macro = std::get_if<Macro>(&called.data)) {
    return macro->statement->call(run, *macro->scope, values);
  }
  if (const Function* function = std::get_if<Function>(&called.data)) {
    return call_function(run, *function, values);
  }
  if (const auto* method = std::get_if<std::shared_ptr<const Method>>(&called.data)) {
    return call_method(run, **method, values);
  }
  run.fail("expected a function, found a ", type_name(called), ", which cannot be called");
}

Value FilterCall::compute(Run& run, const Scope& scope) const {
  const Value filtered = object->evaluate(run, scope);
  return filter(run, filtered, arguments.evaluate(run, scope));
}

Value TestCall::compute(Run& run, const Scope& scope) const {
  const Value tested = object->evaluate(run, scope);
  return {test(run, tested, arguments.evaluate(run, scope))};
}

Value Not::compute(Run& run, const Scope& scope) const {
  return {!is_true(operand->evaluate(run, scope))};
}

Value Sign::compute(Run& run, const Scope& scope) const {
  return with_sign(run, is_minus, operand->evaluate(run, scope));
}

Value Binary::compute(Run& run, const Scope& scope) const {
  const Value a = left->evaluate(run, scope);
  return calculate(run, operation, a, right->evaluate(run, scope));
}

Value Concatenation::compute(Run& run, const Scope& scope) const {
  std::string out;
  for (const ExpressionPtr& part : parts) run.append(out, to_text(run, part->evaluate(run, scope)));
  return text_value(run, std::move(out));
}

Value Logical::compute(Run& run, const Scope& scope) const {
  Value first = left->evaluate(run, scope);
  return is_true(first) == is_and ? right->evaluate(run, scope) : first;
}

Value Comparisons::compute(Run& run, const Scope& scope) const {
  Value before = first->evaluate(run, scope);
  for (const auto& [comparison, expression] : others) {
    Value after = expression->evaluate(run, scope);
    if (!compare(run, comparison, before, after)) return {false};
    before = std::move(after);
  }
  return {true};
}

Value Conditional::compute(Run& run, const Scope& scope) const {
  if (is_true(condition->evaluate(run, scope))) return value->evaluate(run, scope);
  return otherwise ? otherwise->evaluate(run, scope)
                   : undefined("a condition without else does not hold");
}

}  // namespace heed::text::jinja
