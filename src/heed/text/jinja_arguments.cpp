#include "heed/text/jinja_arguments.h"

#include <algorithm>

#include "heed/text/jinja_run.h"

namespace heed::text::jinja {

Bound::Bound(Run& run, std::string_view what, const Arguments& arguments,
             std::initializer_list<std::string_view> parameters)
    : run_(run), what_(what), parameters_(parameters), values_(parameters.size(), nullptr) {
  if (arguments.positional.size() > parameters_.size()) {
    run.fail(what, ": expected at most ", parameters_.size(), " arguments, found ",
             arguments.positional.size());
  }
  for (std::size_t i = 0; i < arguments.positional.size(); ++i) {
    values_[i] = &arguments.positional[i];
  }
  for (const auto& [name, value] : arguments.named) {
    const auto found = std::find(parameters_.begin(), parameters_.end(), name);
    if (found == parameters_.end()) run.fail(what, ": found an unknown argument, `", name, "`");
    const Value*& place = values_[static_cast<std::size_t>(found - parameters_.begin())];
    if (place) run.fail(what, ": found two values of the argument `", name, "`");
    place = &value;
  }
}

const Value& Bound::required(std::size_t parameter) const {
  if (!values_[parameter]) {
    run_.fail(what_, ": expected the argument `", parameters_[parameter], "`, found nothing");
  }
  return *values_[parameter];
}

std::int64_t Bound::integer_or(std::size_t parameter, std::int64_t fallback) const {
  const Value* value = values_[parameter];
  if (!value || value->is_none()) return fallback;
  std::int64_t of_bool = 0;
  const std::int64_t* number = value->integer(of_bool);
  if (!number) {
    run_.fail(what_, ": expected an integer as `", parameters_[parameter], "`, found a ",
              type_name(*value));
  }
  return *number;
}

bool Bound::boolean_or(std::size_t parameter, bool fallback) const {
  const Value* value = values_[parameter];
  return value ? is_true(*value) : fallback;
}

const std::string& Bound::text(std::size_t parameter) const {
  const Value& value = required(parameter);
  if (!value.is_text()) {
    run_.fail(what_, ": expected a string as `", parameters_[parameter], "`, found a ",
              type_name(value));
  }
  return *value.text();
}

}  // namespace heed::text::jinja
