#include "heed/serve/dispatcher.h"

#include <utility>

#include "heed/base/cancellation.h"

namespace heed::serve {

std::optional<Response> Dispatcher::answer_by_head(const Request& head) const {
  if (head.method != "GET" && head.method != "POST") {
    return error_response(405, "expected GET or POST, found " + head.method);
  }
  return files_.find(head);
}

void Dispatcher::answer(Request request, std::stop_token token,
                        std::function<void(Response)> done) {
  worker_.add([this, request = std::move(request), token = std::move(token),
               done = std::move(done)]() mutable {
    const CancellationScope scope([&token] { return token.stop_requested(); });
    done(router_.answer(std::move(request)));
  });
}

void Dispatcher::open_events(Request request, std::shared_ptr<EventStream> stream,
                             std::function<void(std::optional<Response>)> done) {
  worker_.add([this, request = std::move(request), stream = std::move(stream),
               done = std::move(done)]() mutable {
    done(router_.open_events(std::move(request), std::move(stream)));
  });
}

}  // namespace heed::serve
