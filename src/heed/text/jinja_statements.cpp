// Statements, from the tree to text.
#include <algorithm>

#include "heed/text/jinja_run.h"
#include "heed/text/jinja_syntax.h"

namespace heed::text::jinja {

void Target::assign(Run& run, Scope& scope, Value value) const {
  if (is_tuple) {
    const std::vector<Value> values = elements(run, value);
    if (values.size() != parts.size()) {
      run.fail("expected ", parts.size(), " values to assign, found ", values.size());
    }
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i].assign(run, scope, values[i]);
    return;
  }
  if (field.empty()) return scope.set(name, std::move(value));
  const Value* found = scope.find(name);
  const auto* space = found ? std::get_if<std::shared_ptr<Namespace>>(&found->data) : nullptr;
  if (!space) run.fail("expected a namespace, found another value of `", name, "`");
  if (!value.is_data()) {
    run.fail("a ", type_name(value), " as the field of a namespace is not supported");
  }
  (*space)->fields.insert_or_assign(field, std::move(value));
}

Flow render_block(Run& run, Scope& scope, std::string& out, const Block& block) {
  const Run::Level level(run);
  for (const auto& statement : block) {
    run.charge(1);
    run.go_to_line(statement->line);
    const Flow flow = statement->render(run, scope, out);
    if (flow != Flow::next) return flow;
  }
  return Flow::next;
}

Flow TextStatement::render(Run& run, Scope&, std::string& out) const {
  run.append(out, text);
  return Flow::next;
}

Flow PrintStatement::render(Run& run, Scope& scope, std::string& out) const {
  run.append(out, to_text(run, value->evaluate(run, scope)));
  return Flow::next;
}

Flow IfStatement::render(Run& run, Scope& scope, std::string& out) const {
  for (const auto& [condition, block] : branches) {
    if (is_true(condition->evaluate(run, scope))) return render_block(run, scope, out, block);
  }
  return render_block(run, scope, out, otherwise);
}

std::vector<Value> ForStatement::chosen_items(Run& run, const Scope& scope) const {
  std::vector<Value> all = elements(run, items->evaluate(run, scope));
  if (!condition) return all;
  std::vector<Value> chosen;
  for (Value& item : all) {
    Scope inside(&scope);
    target.assign(run, inside, item);
    if (is_true(condition->evaluate(run, inside))) chosen.push_back(std::move(item));
  }
  return chosen;
}

Flow ForStatement::render(Run& run, Scope& scope, std::string& out) const {
  const auto loop = std::make_shared<Loop>();
  loop->items = chosen_items(run, scope);
  for (; loop->index < loop->items.size(); ++loop->index) {
    Scope inside(&scope);
    inside.set("loop", {loop});
    target.assign(run, inside, loop->items[loop->index]);
    if (render_block(run, inside, out, body) == Flow::break_loop) return Flow::next;
  }
  if (!loop->items.empty()) return Flow::next;
  Scope inside(&scope);
  return render_block(run, inside, out, otherwise);
}

Flow FlowStatement::render(Run&, Scope&, std::string&) const { return flow; }

Flow SetStatement::render(Run& run, Scope& scope, std::string&) const {
  target.assign(run, scope, value->evaluate(run, scope));
  return Flow::next;
}

namespace {

Value filtered_block(Run& run, Scope& scope, const Block& body, const FilterChain& filters) {
  Scope inside(&scope);
  std::string text;
  render_block(run, inside, text, body);
  Value value = text_value(run, std::move(text));
  for (const auto& [filter, arguments] : filters) {
    value = filter(run, value, arguments.evaluate(run, inside));
  }
  return value;
}

}  // namespace

Flow SetBlockStatement::render(Run& run, Scope& scope, std::string&) const {
  target.assign(run, scope, filtered_block(run, scope, body, filters));
  return Flow::next;
}

Flow FilterStatement::render(Run& run, Scope& scope, std::string& out) const {
  run.append(out, to_text(run, filtered_block(run, scope, body, filters)));
  return Flow::next;
}

Flow ScopeStatement::render(Run& run, Scope& scope, std::string& out) const {
  Scope inside(&scope);
  for (const auto& [target, value] : values) {
    target.assign(run, inside, value->evaluate(run, scope));
  }
  return render_block(run, inside, out, body);
}

Flow MacroStatement::render(Run&, Scope& scope, std::string&) const {
  scope.set(name, {Macro{this, &scope}});
  return Flow::next;
}

Value MacroStatement::call(Run& run, const Scope& around, const Arguments& arguments) const {
  const Run::Level level(run);
  if (arguments.positional.size() > parameters.size()) {
    run.fail("macro ", name, ": expected at most ", parameters.size(), " arguments, found ",
             arguments.positional.size());
  }
  Scope inside(&around);
  std::size_t num_named = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto& [parameter, fallback] = parameters[i];
    const auto given =
        std::find_if(arguments.named.begin(), arguments.named.end(),
                     [&](const auto& named) { return named.first == parameters[i].first; });
    const bool is_positional = i < arguments.positional.size();
    if (given != arguments.named.end()) {
      if (is_positional)
        run.fail("macro ", name, ": found two values of the argument `", parameter, "`");
      ++num_named;
      inside.set(parameter, given->second);
    } else if (is_positional) {
      inside.set(parameter, arguments.positional[i]);
    } else {
      inside.set(parameter, fallback ? fallback->evaluate(run, inside)
                                     : undefined("the argument `" + parameter + "` was not given"));
    }
  }
  if (num_named != arguments.named.size()) run.fail("macro ", name, ": found an unknown argument");
  std::string text;
  const int line_of_call = run.line();
  render_block(run, inside, text, body);
  run.go_to_line(line_of_call);
  return text_value(run, std::move(text));
}

}  // namespace heed::text::jinja
