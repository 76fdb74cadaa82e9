// The program: one line for each command.
#include <iostream>

#include "heed/cli/command.h"
#include "heed/cli/corpus_command.h"
#include "heed/cli/evaluate_command.h"

int main(int argc, char** argv) {
  using namespace heed::cli;
  std::ios::sync_with_stdio(false);
  return run_program(argc, argv,
                     {
                         evaluate_command(),
                         corpus_command(),
                     });
}
