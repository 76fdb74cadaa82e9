#include "heed/cli/help.h"

#include <algorithm>
#include <span>
#include <sstream>
#include <utility>
#include <vector>

namespace heed::cli {
namespace {

constexpr std::size_t description_column = 30;
constexpr std::size_t max_width = 100;

using Options = std::vector<const CLI::Option*>;

bool is_shown(const CLI::App& app, const CLI::Option* option) {
  return !option->get_group().empty() && option != app.get_help_ptr();
}

// Those of option groups come first: one of them has to be given.
Options all_options(const CLI::App& app) {
  Options options;
  for (const CLI::App* group : app.get_subcommands({})) {
    const Options some = all_options(*group);
    options.insert(options.end(), some.begin(), some.end());
  }
  for (const CLI::Option* option : app.get_options()) {
    if (is_shown(app, option)) options.push_back(option);
  }
  return options;
}

std::string heading_of(const CLI::Option& option) {
  return option.get_positional() ? "Arguments" : option.get_group();
}

// Headings in the order in which the command first used them.
std::vector<std::pair<std::string, Options>> by_group(const CLI::App& app) {
  std::vector<std::pair<std::string, Options>> groups;
  const auto options_of = [&](const std::string& heading) -> Options& {
    const auto group = std::ranges::find(groups, heading, &std::pair<std::string, Options>::first);
    return group == groups.end() ? groups.emplace_back(heading, Options{}).second : group->second;
  };
  for (const CLI::Option* option : app.get_options()) {
    if (is_shown(app, option)) options_of(heading_of(*option));
  }
  for (const CLI::Option* option : all_options(app)) {
    options_of(heading_of(*option)).push_back(option);
  }
  options_of("Other").push_back(app.get_help_ptr());
  return groups;
}

std::string in_capitals(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return 'a' <= c && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return text;
}

// "--beam,--beam-size INT": at most one alias, and the type without the names of its checks.
std::string names_of(const CLI::Option& option) {
  if (option.get_positional()) return in_capitals(option.get_name(true));
  std::string names;
  for (const std::string& name : option.get_snames()) names += "-" + name + ",";
  const std::span<const std::string> long_names = option.get_lnames();
  for (const std::string& name : long_names.first(std::min<std::size_t>(long_names.size(), 2))) {
    names += "--" + name + ",";
  }
  names.pop_back();
  const std::string type = option.get_type_name();
  if (option.get_type_size() != 0) names += ' ' + type.substr(0, type.find(':'));
  return names;
}

std::string description_of(const CLI::Option& option) {
  std::string text = option.get_description();
  if (option.get_required() && !option.get_positional()) text += " (required)";
  const std::string value = option.get_default_str();
  if (!value.empty() && value != "[]") text += " (default: " + value + ')';
  return text;
}

// Two columns; the second is broken at spaces.
void print_row(std::ostream& out, const std::string& left, const std::string& right) {
  std::string line = "  " + left;
  if (line.size() + 2 > description_column) {
    out << line << '\n';
    line.clear();
  }
  line.resize(description_column, ' ');
  std::istringstream words(right);
  bool is_first = true;
  for (std::string word; words >> word;) {
    if (!is_first && line.size() + 1 + word.size() > max_width) {
      out << line << '\n';
      line.assign(description_column, ' ');
      is_first = true;
    }
    line += (std::exchange(is_first, false) ? "" : " ") + word;
  }
  out << line << '\n';
}

}  // namespace

std::string HelpFormatter::make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const {
  std::ostringstream out;
  out << app->get_description() << "\n\nUsage: " << app->get_name();
  for (const CLI::Option* option : all_options(*app)) {
    if (option->get_positional()) out << ' ' << names_of(*option);
  }
  out << " [OPTIONS]\n";
  for (const auto& [name, options] : by_group(*app)) {
    out << '\n' << name << ":\n";
    for (const CLI::Option* option : options) {
      print_row(out, names_of(*option), description_of(*option));
    }
  }
  out << '\n' << app->get_footer() << '\n';
  return out.str();
}

}  // namespace heed::cli
