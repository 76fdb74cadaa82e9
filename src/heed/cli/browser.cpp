#include "heed/cli/browser.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "heed/base/error.h"

extern char** environ;

namespace heed::cli {
namespace {

std::string make_private_folder() {
  std::error_code failure;
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(failure);
  check(!failure, "TMPDIR: expected a folder, found none: ", failure.message());
  std::string folder = temporary / "heed-explore-XXXXXX";
  const bool is_made = ::mkdtemp(folder.data()) != nullptr;  // mode 0700
  check(is_made, folder, ": cannot make this folder: ", std::strerror(errno));
  return folder;
}

bool write_private_file(const std::string& path, const std::string& text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return false;
  const bool is_whole = ::write(file, text.data(), text.size()) == std::ssize(text);
  return ::close(file) == 0 && is_whole;
}

std::string redirect_to(const std::string& address) {
  return "<!doctype html>\n<meta charset=\"utf-8\">\n<title>heed explore</title>\n"
         "<meta name=\"referrer\" content=\"no-referrer\">\n"
         "<meta http-equiv=\"refresh\" content=\"0; url=" +
         address + "\">\n<p><a href=\"" + address + "\">The explorer is here.</a></p>\n";
}

}  // namespace

RedirectPage::RedirectPage(const std::string& address)
    : folder_(make_private_folder()), path_(folder_ + "/explore.html") {
  if (write_private_file(path_, redirect_to(address))) return;
  const int error = errno;
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
  fail(ErrorKind::failed, path_, ": cannot be written: ", std::strerror(error));
}

RedirectPage::~RedirectPage() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

bool open_browser(const RedirectPage& page) {
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
  char* const arguments[] = {const_cast<char*>(opener), const_cast<char*>(page.path().c_str()),
                             nullptr};
  pid_t child;
  const int failure = posix_spawnp(&child, opener, &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  return failure == 0;
}

}  // namespace heed::cli
