// The user's web browser.
#pragma once

#include <string>

namespace heed::cli {

// A page that leads on to an address with a token in it. Everybody on the machine can read command
// lines: the browser's names this file, and only the user can read the file. Its folder is its own
// and is removed with it.
class RedirectPage {
 public:
  explicit RedirectPage(const std::string& address);
  ~RedirectPage();
  RedirectPage(const RedirectPage&) = delete;
  RedirectPage& operator=(const RedirectPage&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string folder_;
  std::string path_;
};

// Asks the system to show the page, and does not wait. False: there is nothing here to ask.
bool open_browser(const RedirectPage& page);

}  // namespace heed::cli
