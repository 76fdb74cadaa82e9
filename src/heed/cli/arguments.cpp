#include "heed/cli/arguments.h"

#include <algorithm>
#include <set>

#include "heed/base/error.h"
#include "heed/cli/nearest_name.h"

namespace heed::cli {
namespace {

using Options = std::vector<const CLI::Option*>;

// Those of option groups too.
Options all_options(const CLI::App& app) {
  Options options = app.get_options();
  for (const CLI::App* group : app.get_subcommands({})) {
    const Options some = all_options(*group);
    options.insert(options.end(), some.begin(), some.end());
  }
  return options;
}

// Reads the arguments in their order, as the parser will.
class ArgumentScan {
 public:
  ArgumentScan(const CLI::App& app, const std::vector<std::string>& arguments)
      : app_(app), arguments_(arguments) {
    num_places_ = std::ranges::count_if(
        app.get_options(), [](const CLI::Option* option) { return option->get_positional(); });
  }

  void check() {
    while (at_ < arguments_.size() && arguments_[at_] != "--") {
      const std::string& argument = arguments_[at_++];
      if (argument.size() > 1 && argument.front() == '-') {
        check_option(argument);
      } else {
        check_positional(argument);
      }
    }
  }

 private:
  void check_option(const std::string& argument) {
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const CLI::Option* option = app_.get_option_no_throw(name);
    check_as(ErrorKind::usage, option != nullptr, "unknown option ", name,
             did_you_mean(name, option_names(app_)));
    const bool is_again = !seen_.insert(option).second;
    check_as(ErrorKind::usage,
             !is_again || option->get_multi_option_policy() != CLI::MultiOptionPolicy::Throw ||
                 option->get_items_expected_max() != 1,
             name, ": expected once, found again");
    if (option->get_items_expected_max() == 0) return check_flag(*option, argument);
    last_option_ = argument;
    if (equals == argument.npos) take_value(name);
    if (option->get_allow_extra_args()) skip_values();
  }

  void check_flag(const CLI::Option& option, const std::string& argument) const {
    const std::size_t equals = argument.find('=');
    if (equals == argument.npos || &option == app_.get_help_ptr()) return;
    const std::string value = argument.substr(equals + 1);
    check_as(ErrorKind::usage, value == "true" || value == "false", argument.substr(0, equals),
             ": expected no value, or true or false, found ", value);
  }

  // A name of an option is no value, but `--prompt=--json` gives it as one.
  void take_value(const std::string& name) {
    check_as(ErrorKind::usage, at_ < arguments_.size(), name, ": expected a value, found nothing");
    const std::string& value = arguments_[at_];
    check_as(ErrorKind::usage, !is_option(value), name, ": expected a value, found the option ",
             value);
    last_option_ += ' ' + value;
    ++at_;
  }

  void skip_values() {
    while (at_ < arguments_.size() && !arguments_[at_].starts_with('-')) ++at_;
  }

  void check_positional(const std::string& argument) {
    check_as(ErrorKind::usage, num_places_-- > 0, "unexpected argument '", argument, "'",
             last_option_.empty() ? "" : " after " + last_option_);
  }

  bool is_option(const std::string& text) const {
    return text.starts_with("--") && app_.get_option_no_throw(text.substr(0, text.find('=')));
  }

  const CLI::App& app_;
  const std::vector<std::string>& arguments_;
  std::size_t at_ = 0;
  std::ptrdiff_t num_places_;  // for positional arguments
  std::set<const CLI::Option*> seen_;
  std::string last_option_;  // with its value
};

std::string shown_name(const CLI::Option& option) {
  if (!option.get_positional()) return option.get_name();
  std::string name = option.get_name(true);
  std::ranges::transform(name, name.begin(), [](char c) {
    return 'a' <= c && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return name;
}

bool is_given(const CLI::Option* option) { return option->count() > 0; }

std::string missing_option(const CLI::App& app) {
  for (const CLI::Option* option : all_options(app)) {
    if (option->get_required() && !is_given(option)) return shown_name(*option) + " is required";
  }
  return "";
}

std::string missing_companion(const CLI::App& app) {
  for (const CLI::Option* option : all_options(app)) {
    if (!is_given(option)) continue;
    for (const CLI::Option* other : option->get_needs()) {
      if (!is_given(other)) return option->get_name() + ": expected " + other->get_name() + " too";
    }
  }
  return "";
}

std::string excluded_option(const CLI::App& app) {
  for (const CLI::Option* option : all_options(app)) {
    if (!is_given(option)) continue;
    for (const CLI::Option* other : option->get_excludes()) {
      if (is_given(other)) {
        return option->get_name() + ": cannot be combined with " + other->get_name();
      }
    }
  }
  return "";
}

void append(std::string& list, const std::string& name) {
  list.append(list.empty() ? "" : ", ").append(name);
}

// A group of options, exactly one of which has to be given.
std::string not_one_of_group(const CLI::App& app) {
  for (const CLI::App* group : app.get_subcommands({})) {
    std::string names, given;
    for (const CLI::Option* option : all_options(*group)) {
      if (option == group->get_help_ptr()) continue;
      append(names, option->get_name());
      if (is_given(option)) append(given, option->get_name());
    }
    if (group->get_require_option_max() == 1 && std::ranges::count(given, ',') != 0) {
      return "expected only one of " + names + "; found " + given;
    }
    if (group->get_require_option_min() == 1 && given.empty()) return "expected one of " + names;
  }
  return "";
}

}  // namespace

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : all_options(app)) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

void check_arguments(const CLI::App& app, const std::vector<std::string>& arguments) {
  ArgumentScan(app, arguments).check();
}

std::string parse_mistake(const CLI::App& app, const CLI::ParseError& error) {
  // The words of a validator are ours.
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr) return error.what();
  for (const auto mistake :
       {missing_option, excluded_option, missing_companion, not_one_of_group}) {
    if (std::string text = mistake(app); !text.empty()) return text;
  }
  return "expected other arguments: " + std::string(error.what());
}

}  // namespace heed::cli
