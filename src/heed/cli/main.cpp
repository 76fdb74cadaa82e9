// The program: one line for each command.
#include <iostream>

#include "heed/cli/attend_command.h"
#include "heed/cli/classify_command.h"
#include "heed/cli/command.h"
#include "heed/cli/convert_command.h"
#include "heed/cli/corpus_command.h"
#include "heed/cli/demo_command.h"
#include "heed/cli/embed_command.h"
#include "heed/cli/evaluate_command.h"
#include "heed/cli/explore_command.h"
#include "heed/cli/fill_command.h"
#include "heed/cli/generate_command.h"
#include "heed/cli/inspect_command.h"
#include "heed/cli/score_command.h"
#include "heed/cli/train_command.h"
#include "heed/cli/translate_command.h"

int main(int argc, char** argv) {
  using namespace heed::cli;
  std::ios::sync_with_stdio(false);
  return run_program(argc, argv,
                     {
                         attend_command(),
                         train_command(),
                         translate_command(),
                         generate_command(),
                         classify_command(),
                         fill_command(),
                         embed_command(),
                         score_command(),
                         evaluate_command(),
                         explore_command(),
                         inspect_command(),
                         convert_command(),
                         corpus_command(),
                         demo_command(),
                     });
}
