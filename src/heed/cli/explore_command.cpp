#include "heed/cli/explore_command.h"

#include <chrono>
#include <iostream>
#include <memory>
#include <thread>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/cli/browser.h"
#include "heed/explore/explorer.h"
#include "heed/explore/page_files.h"

namespace heed::cli {
namespace {

int wait_for_interrupt() {
  while (interrupt_signal() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  return interrupt_signal();
}

}  // namespace

int explore(const ExploreOptions& options, std::ostream& messages) {
  check(!explore::page_files().is_empty(),
        "explore: expected the page inside the program, found one that was built without it "
        "(HEED_BUILD_WEB=OFF)");
  const InterruptGuard interrupts;
  const explore::Explorer explorer({.model = options.model, .port = options.port});
  messages << "heed explore: " << explorer.address() << std::endl;
  std::optional<RedirectPage> page;  // until the end: the browser may be slow to start
  if (options.open && !open_browser(page.emplace(explorer.address()))) {
    messages << "heed explore: --open: no browser could be started; open the address yourself"
             << std::endl;
  }
  return 128 + wait_for_interrupt();
}

Command explore_command() {
  auto options = std::make_shared<ExploreOptions>();
  Command command("explore",
                  "Look inside attention, a model or a training run, in the browser.\n"
                  "Serves the page to this machine only, at the address on standard error, which "
                  "works once.\n"
                  "Without a model it shows attention on words in a plane. Ctrl-C ends it.",
                  "heed explore --model my-model --open");
  command.group(option_group::model);
  command
      .option("--model", options->model, "model folder; may be one that `heed train` is writing to")
      ->type_name("FOLDER");
  command.group("Server");
  command.flag("--open", options->open, "open the page in the browser");
  command.number("--port", options->port, {0, 65535}, "port on 127.0.0.1; 0: any free port");
  command.accept_threads();
  command.run([options] { return explore(*options, std::cerr); });
  return command;
}

}  // namespace heed::cli
