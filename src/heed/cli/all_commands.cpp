#include "heed/cli/all_commands.h"

#include "heed/cli/attend_command.h"
#include "heed/cli/classify_command.h"
#include "heed/cli/convert_command.h"
#include "heed/cli/corpus_command.h"
#include "heed/cli/demo_command.h"
#include "heed/cli/embed_command.h"
#include "heed/cli/evaluate_command.h"
#include "heed/cli/explore_command.h"
#include "heed/cli/fill_command.h"
#include "heed/cli/generate_command.h"
#include "heed/cli/inspect_command.h"
#include "heed/cli/presets_command.h"
#include "heed/cli/score_command.h"
#include "heed/cli/tokenize_command.h"
#include "heed/cli/train_command.h"
#include "heed/cli/translate_command.h"

namespace heed::cli {

std::vector<Command> all_commands() {
  std::vector<Command> commands;
  const auto add = [&](const char* section, std::vector<Command> some) {
    for (Command& command : some) {
      command.set_section(section);
      commands.push_back(std::move(command));
    }
  };
  add("Train and evaluate",
      {demo_command(), train_command(), presets_command(), evaluate_command()});
  add("Run a model", {translate_command(), generate_command(), classify_command(), fill_command(),
                      embed_command(), score_command()});
  add("Look inside", {explore_command(), attend_command(), inspect_command()});
  add("Data and tools", {tokenize_command(), convert_command(), corpus_command()});
  return commands;
}

}  // namespace heed::cli
