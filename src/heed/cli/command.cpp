#include "heed/cli/command.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <map>
#include <new>
#include <optional>
#include <string_view>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/base/version.h"
#include "heed/cli/arguments.h"
#include "heed/cli/help.h"
#include "heed/cli/nearest_name.h"
#include "heed/models/transformer_config.h"

namespace heed::cli {
namespace {

constexpr char unwritable_output[] = "standard output: cannot be written";

// CLI11 reads the file before the environment. This leaves out options that the environment sets,
// and names the file when it holds something that is no option.
class ConfigBelowEnvironment : public CLI::ConfigBase {
 public:
  explicit ConfigBelowEnvironment(const CLI::App& app) : app_(app) {}

  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    std::vector<CLI::ConfigItem> items = ConfigBase::from_config(input);
    std::erase_if(items, [&](const CLI::ConfigItem& item) { return is_overruled(item); });
    return items;
  }

 private:
  bool is_overruled(const CLI::ConfigItem& item) const {
    const CLI::Option* option = app_.get_option_no_throw("--" + item.name);
    check_as(ErrorKind::usage, option != nullptr && item.parents.empty(),
             app_.get_config_ptr()->as<std::string>(), ": unknown option ", item.fullname(),
             did_you_mean(item.name, names_in_files()));
    const std::string variable = option->get_envname();
    const char* value = variable.empty() ? nullptr : std::getenv(variable.c_str());
    return value != nullptr && *value != '\0';
  }

  std::vector<std::string> names_in_files() const {
    std::vector<std::string> names = option_names(app_);
    for (std::string& name : names) name.erase(0, 2);
    return names;
  }

  const CLI::App& app_;
};

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

CLI::Validator is_file() {
  const auto mistake = [](const std::string& path) {
    return std::filesystem::is_regular_file(path) ? "" : "expected a file, found " + path;
  };
  return {mistake, /*validator_desc=*/""};
}

int report(const std::string& message, int code) {
  std::cout.flush();
  std::cerr << "heed: " << one_line(message) << std::endl;
  return code;
}

std::string names(const std::vector<Command>& commands) {
  std::string text;
  for (const Command& command : commands) text += (text.empty() ? "" : ", ") + command.name();
  return text;
}

std::string unknown_command(const std::string& name, const std::vector<Command>& commands) {
  std::vector<std::string> all;
  std::ranges::transform(commands, std::back_inserter(all), &Command::name);
  const std::string suggestion = did_you_mean(name, all);
  return "unknown command " + name +
         (suggestion.empty() ? "; expected " + names(commands) : suggestion);
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

void print_help(const std::vector<Command>& commands) {
  std::cout << "Heed trains, runs and opens up Transformers on ordinary processors.\n\n"
               "Usage: heed COMMAND [OPTIONS]\n";
  std::string section;
  for (const Command& command : commands) {
    if (command.section() != section) {
      section = command.section();
      std::cout << '\n' << section << ":\n";
    }
    std::cout << "  " << std::left << std::setw(12) << command.name()
              << first_line(command.app()->get_description()) << '\n';
  }
  std::cout
      << "\n`heed COMMAND --help` lists the options of a command; `heed --version` prints the "
         "version.\n";
  if (!commands.empty()) std::cout << '\n' << commands.front().app()->get_footer() << '\n';
}

// Says which help has more.
template <typename... Parts>
[[noreturn]] void fail_usage(const Command& command, const Parts&... parts) {
  fail(ErrorKind::usage, parts..., " (see heed ", command.name(), " --help)");
}

// An unset variable on the command line gives an empty name, which as a folder would be the root.
void check_paths(const Command& command) {
  const std::map<std::string_view, const char*> path_types{
      {"FOLDER", "folder"}, {"FILE", "file"}, {"PATH", "file or folder"}};
  for (const CLI::Option* option : command.app()->get_options()) {
    const auto type = path_types.find(option->get_type_name());
    if (type == path_types.end()) continue;
    for (const std::string& path : option->results()) {
      check_as(ErrorKind::usage, !path.empty(), option->get_name(), ": expected the name of a ",
               type->second, ", found an empty one");
    }
  }
}

// The exit code when the command line only asks for help.
std::optional<int> parse(const Command& command, std::vector<std::string> arguments) {
  command.app()->name("heed " + command.name());
  try {
    check_arguments(*command.app(), arguments);
    std::ranges::reverse(arguments);  // CLI11 takes them from the back
    command.app()->parse(std::move(arguments));
    check_paths(command);
  } catch (const CLI::CallForHelp&) {
    std::cout << command.help();
    return 0;
  } catch (const CLI::ParseError& error) {
    fail_usage(command, parse_mistake(*command.app(), error));
  } catch (const Error& error) {
    fail_usage(command, error.what());
  }
  return std::nullopt;
}

// "`max_length`: expected ..." becomes "--max-length: expected ..." where the command has that
// option: the library knows settings by their names, and only the command line knows its options.
std::string with_option_names(const std::string& message, const CLI::App& app) {
  std::string text;
  std::size_t at = 0;
  for (std::size_t open; (open = message.find('`', at)) != message.npos;) {
    const std::size_t close = message.find('`', open + 1);
    if (close == message.npos) break;
    std::string option = "--" + message.substr(open + 1, close - open - 1);
    std::ranges::replace(option, '_', '-');
    const bool is_known = app.get_option_no_throw(option) != nullptr;
    text.append(message, at, is_known ? open - at : close + 1 - at);
    if (is_known) text += option;
    at = close + 1;
  }
  return text + message.substr(at);
}

int run_work(const Command& command) {
  try {
    return command.execute();
  } catch (const Error& error) {
    throw Error(error.kind(), with_option_names(error.what(), *command.app()));
  }
}

int run_command(const Command& command, std::vector<std::string> arguments) {
  const std::optional<int> helped = parse(command, std::move(arguments));
  return helped ? *helped : run_work(command);
}

int dispatch(std::vector<std::string> arguments, const std::vector<Command>& commands) {
  check_as(ErrorKind::usage, !arguments.empty(), "expected a command: ", names(commands),
           " (see heed --help)");
  const std::string name = arguments.front();
  if (name == "--help" || name == "-h" || name == "help") return print_help(commands), 0;
  if (name == "--version") return std::cout << "heed " << version << '\n', 0;
  const auto command = std::ranges::find(commands, name, &Command::name);
  check_as(ErrorKind::usage, command != commands.end(), unknown_command(name, commands),
           " (see heed --help)");
  arguments.erase(arguments.begin());
  return run_command(*command, std::move(arguments));
}

// While it lives, the first write to standard output that fails throws std::ios_base::failure: a
// long computation ends there.
class ThrowingOutput {
 public:
  ThrowingOutput() : before_(std::cout.exceptions()) {
    std::cout.exceptions(std::ios::badbit | std::ios::failbit);
  }
  ~ThrowingOutput() { std::cout.exceptions(before_); }
  ThrowingOutput(const ThrowingOutput&) = delete;
  ThrowingOutput& operator=(const ThrowingOutput&) = delete;

 private:
  std::ios::iostate before_;
};

int dispatch_and_flush(std::vector<std::string> arguments, const std::vector<Command>& commands) {
  const ThrowingOutput throwing;
  const int code = dispatch(std::move(arguments), commands);
  std::cout.flush();
  check(std::cout.good(), unwritable_output);  // where a stream that is tied to it met the failure
  return code;
}

}  // namespace

CLI::Validator is_one_of(std::vector<std::string> names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  const auto mistake = [names = std::move(names), all](const std::string& text) -> std::string {
    if (std::ranges::find(names, text) != names.end()) return "";
    return "expected one of " + all + ", found " + (text.empty() ? "nothing" : text);
  };
  return {mistake, /*validator_desc=*/""};
}

Command::Command(std::string name, std::string description, std::string example)
    : name_(std::move(name)), app_(std::make_shared<CLI::App>(std::move(description), name_)) {
  app_->footer("Example: " + std::move(example));
  app_->formatter(std::make_shared<HelpFormatter>());
  app_->set_help_flag("-h,--help", "print this help and exit");
}

void Command::accept_config_file() {
  app_->set_config("--config", "", "read options from this file, one `name = value` a line")
      ->check(is_file())
      ->type_name("FILE")
      ->group("Other");
  app_->config_formatter(std::make_shared<ConfigBelowEnvironment>(*app_));
}

void Command::accept_batch_tokens(Index& batch_tokens, const std::string& description) {
  group(option_group::performance);
  number("--batch-tokens", batch_tokens, {1, max_tokens_of_a_batch}, description);
}

CLI::Option* Command::accept_weights(std::optional<WeightFormat>& weights) {
  const auto set = [&weights](const std::string& name) {
    weights = parse_choice<WeightFormat>(name, "--weights");
  };
  return app_
      ->add_option_function<std::string>(
          "--weights", set,
          "hold the weights in this format: " + choice_names<WeightFormat>() +
              " (default: that of the folder)")
      ->check(is_choice<WeightFormat>())
      ->group(option_group::model);
}

void Command::accept_threads() {
  app_->add_option("--threads", *threads_,
                   "number of threads (default: OMP_NUM_THREADS, otherwise all available CPUs)")
      ->check(in_range(Range<int>{1, max_num_threads}))
      ->group(option_group::performance);
}

std::string Command::help() const {
  before_help_();
  return app_->help();
}

int Command::execute() const {
  if (*threads_ > 0) set_num_threads(*threads_);
  return work_();
}

int run_program(int argc, const char* const* argv, const std::vector<Command>& commands) {
  try {
    return dispatch_and_flush({argv + std::min(argc, 1), argv + argc}, commands);
  } catch (const std::ios_base::failure& error) {
    return report(std::cout.good() ? error.what() : unwritable_output,
                  exit_code(ErrorKind::failed));
  } catch (const Error& error) {
    return report(error.what(), exit_code(error.kind()));
  } catch (const std::bad_alloc&) {
    return report("out of memory", exit_code(ErrorKind::failed));
  } catch (const std::exception& error) {
    return report(error.what(), exit_code(ErrorKind::failed));
  }
}

}  // namespace heed::cli
