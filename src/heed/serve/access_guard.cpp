#include "heed/serve/access_guard.h"

#include <algorithm>
#include <string_view>

#include "heed/serve/secret.h"
#include "heed/text/lines.h"

namespace heed::serve {
namespace {

// With an empty icon: browsers would ask for /favicon.ico.
constexpr const char* first_page =
    "<!doctype html>\n<title>heed explore</title>\n<link rel=\"icon\" href=\"data:,\">\n"
    "<meta http-equiv=\"refresh\" content=\"0; url=/\">\n<p><a href=\"/\">heed explore</a></p>\n";

// application/json, with or without parameters.
bool has_json_type(const Request& request) {
  const std::string type = request.header("content-type").value_or("");
  return text::trim(std::string_view(type).substr(0, type.find(';'))) == "application/json";
}

// A page of another origin led here; the file that heed explore --open makes is one.
bool comes_from_elsewhere(const Request& request) {
  const std::string site = request.header("sec-fetch-site").value_or("none");
  return site != "none" && site != "same-origin";
}

bool comes_from_own_script(const Request& request) {
  return request.header("origin") || request.header("sec-fetch-site") == "same-origin";
}

}  // namespace

AccessGuard::AccessGuard(std::uint16_t port)
    : port_(std::to_string(port)),
      cookie_name_("heed_" + port_),
      token_(make_secret()),
      session_(make_secret()) {}

std::string AccessGuard::address() const {
  return "http://127.0.0.1:" + port_ + "/?token=" + token_;
}

bool AccessGuard::is_own_host(const Request& request) const {
  const std::optional<std::string> host = request.header("host");
  return host == "127.0.0.1:" + port_ || host == "localhost:" + port_;
}

// The origin of the request according to the browser. Without these headers it is not a script in a
// browser; a link on another site may open the page itself, and nothing else.
bool AccessGuard::is_own_page(const Request& request) const {
  const std::optional<std::string> origin = request.header("origin");
  if (origin && *origin != "http://" + request.header("host").value_or("")) return false;
  const std::optional<std::string> site = request.header("sec-fetch-site");
  const bool is_link = request.method == "GET" && request.path == "/";
  return !site || *site == "same-origin" || *site == "none" || is_link;
}

bool AccessGuard::has_session(const Request& request) const {
  const std::string header = request.header("cookie").value_or("");
  bool is_found = false;
  for (std::size_t begin = 0; begin < header.size();) {
    const std::size_t end = std::min(header.find(';', begin), header.size());
    const std::string_view cookie = text::trim(std::string_view(header).substr(begin, end - begin));
    const std::size_t equals = std::min(cookie.find('='), cookie.size());
    if (cookie.substr(0, equals) == cookie_name_ && equals < cookie.size()) {
      is_found |= is_same_secret(session_, cookie.substr(equals + 1));
    }
    begin = end + 1;
  }
  return is_found;
}

bool AccessGuard::takes_token(const Request& request) {
  const auto token = request.query.find("token");
  if (token == request.query.end() || token_.empty()) return false;
  const bool is_right = is_same_secret(token_, token->second);
  if (is_right) token_.clear();
  return is_right;
}

// Browsers send a strict cookie with no request that a page from elsewhere began, its redirects
// included. So such a visitor gets a page of our own, which begins the next request itself.
Response AccessGuard::open_session(const Request& request) const {
  Response response{303, "text/plain; charset=utf-8", {{"Location", "/"}}, {}};
  if (comes_from_elsewhere(request)) {
    response = {200, "text/html; charset=utf-8", {}, first_page};
  }
  response.headers.emplace_back(
      "Set-Cookie", cookie_name_ + '=' + session_ + "; HttpOnly; SameSite=Strict; Path=/");
  return response;
}

std::optional<Response> AccessGuard::stop(const Request& request) {
  if (!is_own_host(request)) return text_response(403, "expected this server's own host name");
  if (!is_own_page(request)) return text_response(403, "expected a request of this server's page");
  if (request.method == "GET" && request.path == "/" && request.query.contains("token")) {
    // With the cookie an old address still opens the page.
    if (takes_token(request) || has_session(request)) return open_session(request);
    return text_response(401, "this address has been used or is wrong: start heed explore again");
  }
  if (!has_session(request)) {
    return text_response(401, "expected the address that heed explore printed, with its token");
  }
  if (request.method != "POST") return std::nullopt;
  if (!has_json_type(request)) {
    return text_response(415, "expected Content-Type: application/json");
  }
  if (!comes_from_own_script(request)) {
    return text_response(403, "expected the Origin of this server's page");
  }
  return std::nullopt;
}

}  // namespace heed::serve
