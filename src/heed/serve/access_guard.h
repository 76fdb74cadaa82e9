// Access to a server that is meant for one person on this machine.
//
// The address that is printed holds a token. The first client that presents it gets a cookie, and
// the token becomes invalid; all others are refused. A web page from elsewhere can make the browser
// send requests here, so Host (against DNS rebinding), Origin and the content type of posted bodies
// are checked as well.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "heed/serve/request.h"
#include "heed/serve/response.h"

namespace heed::serve {

class AccessGuard {
 public:
  explicit AccessGuard(std::uint16_t port);

  std::string address() const;  // http://127.0.0.1:PORT/?token=TOKEN

  // The answer to a request that gets no further: a refusal, or the cookie in return for the token.
  // Looks at the head alone.
  std::optional<Response> stop(const Request& request);

 private:
  bool is_own_host(const Request& request) const;
  bool is_own_page(const Request& request) const;
  bool has_session(const Request& request) const;
  bool takes_token(const Request& request);
  Response open_session(const Request& request) const;

  std::string port_;
  std::string cookie_name_;  // cookies are shared between the ports of a host: the name holds it
  std::string token_;        // empty: used
  std::string session_;
};

}  // namespace heed::serve
