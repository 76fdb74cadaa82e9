#include "heed/serve/router.h"

#include <algorithm>
#include <exception>
#include <new>

#include "heed/base/cancellation.h"
#include "heed/base/error.h"

namespace heed::serve {
namespace {

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    parts.emplace_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool is_parameter(const std::string& part) { return part.starts_with('{') && part.ends_with('}'); }

bool fits(const std::vector<std::string>& pattern, const std::vector<std::string>& path) {
  return std::ranges::equal(pattern, path,
                            [](const std::string& expected, const std::string& part) {
                              return is_parameter(expected) ? !part.empty() : expected == part;
                            });
}

int status_of(ErrorKind kind) {
  return kind == ErrorKind::usage || kind == ErrorKind::data ? 400 : 500;
}

// Runs the work and converts exceptions to answers. Work that was cancelled while it waited does
// not begin.
template <typename Work>
auto with_error_answers(Work work) -> decltype(work()) {
  try {
    check_cancelled();
    return work();
  } catch (const NotFound& error) {
    return error_response(404, error.what());
  } catch (const Cancelled& error) {
    return error_response(503, error.what());
  } catch (const Error& error) {
    return error_response(status_of(error.kind()), error.what());
  } catch (const std::bad_alloc&) {
    return error_response(500, "out of memory");
  } catch (const std::exception& error) {
    return error_response(500, error.what());
  }
}

}  // namespace

void Router::add(std::string_view method, std::string_view pattern, Handler handler,
                 EventHandler event_handler) {
  check(pattern.starts_with('/'), "router: expected a pattern that begins with /, found ", pattern);
  routes_.push_back(
      {std::string(method), parts_of(pattern), std::move(handler), std::move(event_handler)});
}

void Router::get(std::string_view pattern, Handler handler) {
  add("GET", pattern, std::move(handler), nullptr);
}

void Router::post(std::string_view pattern, Handler handler) {
  add("POST", pattern, std::move(handler), nullptr);
}

void Router::events(std::string_view pattern, EventHandler handler) {
  add("GET", pattern, nullptr, std::move(handler));
}

const Router::Route* Router::find(Request& request) const {
  const std::vector<std::string> parts = parts_of(request.path);
  const auto route = std::ranges::find_if(routes_, [&](const Route& candidate) {
    return candidate.method == request.method && fits(candidate.parts, parts);
  });
  if (route == routes_.end()) return nullptr;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string& name = route->parts[i];
    if (is_parameter(name)) request.path_parameters[name.substr(1, name.size() - 2)] = parts[i];
  }
  return &*route;
}

bool Router::has_path(const Request& request) const {
  const std::vector<std::string> parts = parts_of(request.path);
  return std::ranges::any_of(routes_, [&](const Route& route) { return fits(route.parts, parts); });
}

Response Router::answer(Request request) const {
  const Route* route = find(request);
  if (route == nullptr || !route->handler) {
    return has_path(request)
               ? error_response(405,
                                request.path + ": expected another method, found " + request.method)
               : error_response(404, request.path + ": no such thing here");
  }
  return with_error_answers([&] { return route->handler(request); });
}

bool Router::has_events(const Request& request) const {
  Request copy{.method = request.method, .path = request.path};
  const Route* route = find(copy);
  return route != nullptr && route->event_handler;
}

std::optional<Response> Router::open_events(Request request,
                                            std::shared_ptr<EventStream> stream) const {
  const Route* route = find(request);
  return with_error_answers([&]() -> std::optional<Response> {
    check(route != nullptr && route->event_handler, request.path, ": no events here");
    route->event_handler(request, std::move(stream));
    return std::nullopt;
  });
}

}  // namespace heed::serve
