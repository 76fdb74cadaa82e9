// The commands of the program, in the order of `heed --help`.
#pragma once

#include <vector>

#include "heed/cli/command.h"

namespace heed::cli {

std::vector<Command> all_commands();

}  // namespace heed::cli
