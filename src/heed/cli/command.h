// A command of the program: its options, its help, and the work that it does.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace heed::cli {

// Wraps one CLI11 app. The options are bound to variables that the work captures.
class Command {
 public:
  // The first line of `description` is the one in the list of commands. `example` is one line that
  // works as it stands; it is printed at the end of --help.
  Command(std::string name, std::string description, std::string example);

  const std::string& name() const { return name_; }

  template <typename T>
  CLI::Option* option(const std::string& names, T& value, const std::string& description) {
    return app_->add_option(names, value, description)->capture_default_str();
  }
  CLI::Option* flag(const std::string& name, bool& value, const std::string& description) {
    return app_->add_flag(name, value, description);
  }
  // Adds --config FILE with lines like `batch-tokens = 4096`, one for each option. The command line
  // wins over the environment (Option::envname), and the environment wins over the file.
  void accept_config_file();
  // Adds --threads, which holds from before the work begins.
  void accept_threads();
  // The work: returns the exit code, throws heed::Error for mistakes.
  void run(std::function<int()> work) { work_ = std::move(work); }

  std::shared_ptr<CLI::App> app() const { return app_; }
  int execute() const;

 private:
  std::string name_;
  std::shared_ptr<CLI::App> app_;
  std::function<int()> work_;
  std::shared_ptr<int> threads_ = std::make_shared<int>(0);  // 0: nobody has said
};

// Parses the command line, runs one command, and returns the exit code of the program. Errors
// become one line on standard error.
int run_program(int argc, const char* const* argv, const std::vector<Command>& commands);

}  // namespace heed::cli
