// The text of `heed COMMAND --help`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace heed::cli {

// Description, usage, then the options by their groups in the order in which the groups were first
// used, one line each if it fits, and the footer. The option --help comes last.
class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
};

}  // namespace heed::cli
