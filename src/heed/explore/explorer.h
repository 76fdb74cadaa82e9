// The explorer: a page on this machine that looks inside attention, a model and a training run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "heed/explore/explorer_state.h"
#include "heed/serve/access_guard.h"
#include "heed/serve/router.h"
#include "heed/serve/server.h"
#include "heed/serve/static_files.h"

namespace heed::explore {

struct ExplorerOptions {
  std::optional<std::string> model = {};  // a model folder, or one that a training run will fill
  std::uint16_t port = 0;                 // 0: any that is free
};

// Answers from the beginning to the end of its life. Refuses a model that cannot be read and a port
// that is taken.
class Explorer {
 public:
  explicit Explorer(const ExplorerOptions& options);
  ~Explorer();
  Explorer(const Explorer&) = delete;
  Explorer& operator=(const Explorer&) = delete;

  // Opens the page once; after that the browser has a cookie.
  const std::string& address() const { return address_; }

 private:
  serve::StaticFiles files_;
  ExplorerState state_;
  serve::Router router_;
  serve::Server server_;
  serve::AccessGuard guard_;
  std::string address_;
};

}  // namespace heed::explore
