// The user's web browser.
#pragma once

#include <string>

namespace heed::cli {

// Asks the system to show the address, and does not wait. False: there is nothing here to ask.
bool open_browser(const std::string& address);

}  // namespace heed::cli
