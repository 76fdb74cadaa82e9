// Routes: the function that answers each path.
//
//   Router router;
//   router.get("/api/trace/{id}/cell", [](const Request& request) {
//     return json_response(cell_of(request.path_index("id")));
//   });
//
// The server calls all handlers from one thread, one after the other: they need no locks among
// themselves, and a long one holds up the next.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/serve/event_stream.h"
#include "heed/serve/request.h"
#include "heed/serve/response.h"

namespace heed::serve {

using Handler = std::function<Response(const Request&)>;
// Returns soon and keeps the stream as long as it has something to send, from any thread. The
// stream ends with its last owner.
using EventHandler = std::function<void(const Request&, std::shared_ptr<EventStream>)>;

class Router {
 public:
  // A pattern is a path in which {name} stands for any one part: `/api/trace/{id}/cell`.
  void get(std::string_view pattern, Handler handler);
  void post(std::string_view pattern, Handler handler);
  void events(std::string_view pattern, EventHandler handler);  // by GET

  // The handler's answer, or what its exception means: NotFound 404, Error of kind usage or data
  // 400, Cancelled 503, everything else 500. 404 when no pattern fits, 405 when one does with
  // another method.
  Response answer(Request request) const;

  // For routes of events, which have no single answer: refused (in the same way) or open.
  bool has_events(const Request& request) const;
  // The answer that refuses; none when the handler has taken the stream.
  std::optional<Response> open_events(Request request, std::shared_ptr<EventStream> stream) const;

 private:
  struct Route {
    std::string method;
    std::vector<std::string> parts;
    Handler handler;             // one of
    EventHandler event_handler;  // these two
  };

  const Route* find(Request& request) const;  // and sets the path parameters
  bool has_path(const Request& request) const;
  void add(std::string_view method, std::string_view pattern, Handler handler,
           EventHandler event_handler);

  std::vector<Route> routes_;
};

}  // namespace heed::serve
