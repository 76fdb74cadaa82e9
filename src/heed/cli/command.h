// A command of the program: its options, its help, and the work that it does.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "heed/base/choices.h"
#include "heed/base/index.h"
#include "heed/base/weight_format.h"
#include "heed/cli/numbers.h"

namespace heed::cli {

// Groups of options that several commands have. Others have names of their own.
namespace option_group {
inline constexpr char model[] = "Model";
inline constexpr char input[] = "Input";
inline constexpr char output[] = "Output";
inline constexpr char search[] = "Search";
inline constexpr char performance[] = "Performance";
}  // namespace option_group

// Bounds of options, beyond all use but within all types.
inline constexpr Index max_tokens_of_a_text = 1'000'000;
inline constexpr Index max_tokens_of_a_batch = 1'000'000;
inline constexpr Index max_top = 1'000'000;

// Accepts these names: "expected one of table, json, csv, found xml", after the name of the option.
CLI::Validator is_one_of(std::vector<std::string> names);

// Accepts the names of an enum's values.
template <typename Value>
CLI::Validator is_choice() {
  std::vector<std::string> names;
  for (const Choice<Value>& choice : choices<Value>()) names.emplace_back(choice.name);
  return is_one_of(std::move(names));
}

// Wraps one CLI11 app. The options are bound to variables that the work captures.
class Command {
 public:
  // The first line of `description` is the one in the list of commands. `example` is one line that
  // works as it stands; it is printed at the end of --help.
  Command(std::string name, std::string description, std::string example);

  const std::string& name() const { return name_; }
  // The heading under which `heed --help` lists the command.
  const std::string& section() const { return section_; }
  void set_section(std::string section) { section_ = std::move(section); }

  // The heading under which --help lists the options that are added from now on.
  void group(std::string name) { group_ = std::move(name); }

  // --help shows the value that the variable has now as the default, unless it is an optional.
  template <typename T>
  CLI::Option* option(const std::string& names, T& value, const std::string& description) {
    CLI::Option* option = app_->add_option(names, value, description)->group(group_);
    return is_optional<T> ? option : option->capture_default_str();
  }
  // The same for a number, which is refused outside of the range.
  template <typename T>
  CLI::Option* number(const std::string& names, T& value,
                      const std::type_identity_t<Range<NumberIn<T>>>& range,
                      const std::string& description) {
    return option(names, value, description)->check(in_range(range));
  }
  CLI::Option* flag(const std::string& name, bool& value, const std::string& description) {
    return app_->add_flag(name, value, description)->group(group_);
  }
  // May be given several times, with one value each.
  CLI::Option* repeatable(const std::string& name, std::vector<std::string>& values,
                          const std::string& description) {
    return app_->add_option(name, values, description + " (repeatable)")
        ->allow_extra_args(false)
        ->group(group_);
  }
  // Adds --config FILE with lines like `batch-tokens = 4096`, one for each option. The command line
  // wins over the environment (Option::envname), and the environment wins over the file.
  void accept_config_file();
  // Adds --batch-tokens.
  void accept_batch_tokens(Index& batch_tokens, const std::string& description);
  // Adds --weights to the options of the model.
  CLI::Option* accept_weights(std::optional<WeightFormat>& weights);
  // Adds --threads, which is set before the work starts.
  void accept_threads();
  // Called before --help is printed, when the options that stand beside it have been read.
  void before_help(std::function<void()> prepare) { before_help_ = std::move(prepare); }
  // The work: returns the exit code, throws heed::Error for mistakes.
  void run(std::function<int()> work) { work_ = std::move(work); }

  std::shared_ptr<CLI::App> app() const { return app_; }
  std::string help() const;
  int execute() const;

 private:
  std::string name_;
  std::string section_ = "Commands";
  std::string group_ = "Options";
  std::shared_ptr<CLI::App> app_;
  std::function<void()> before_help_ = [] {};
  std::function<int()> work_;
  std::shared_ptr<int> threads_ = std::make_shared<int>(0);  // 0: the default
};

// Parses the command line, runs one command, and returns the exit code of the program. Errors
// become one line on standard error.
int run_program(int argc, const char* const* argv, const std::vector<Command>& commands);

}  // namespace heed::cli
