// Mistakes in the arguments of a command, in our words.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace heed::cli {

// The long names of all options that a command shows or accepts, with their dashes.
std::vector<std::string> option_names(const CLI::App& app);

// Refuses (ErrorKind::usage) unknown options, options without their value or given twice, and
// arguments that the command has no place for.
void check_arguments(const CLI::App& app, const std::vector<std::string>& arguments);

// What is wrong with arguments that check_arguments accepts and that the parser refused: a value,
// or options that are missing or do not go together.
std::string parse_mistake(const CLI::App& app, const CLI::ParseError& error);

}  // namespace heed::cli
