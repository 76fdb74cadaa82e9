// The program: one line for each command.
#include <iostream>

#include "heed/cli/all_commands.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  return heed::cli::run_program(argc, argv, heed::cli::all_commands());
}
