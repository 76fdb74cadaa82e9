#include "heed/cli/browser.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

extern char** environ;

namespace heed::cli {

bool open_browser(const std::string& address) {
#ifdef __APPLE__
  const char* opener = "open";
#else
  const char* opener = "xdg-open";
#endif
  // The browser's own messages are not shown.
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  char* const arguments[] = {const_cast<char*>(opener), const_cast<char*>(address.c_str()),
                             nullptr};
  pid_t child;
  const int failure = posix_spawnp(&child, opener, &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  return failure == 0;
}

}  // namespace heed::cli
