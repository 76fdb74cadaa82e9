// Dispatch of requests: to the guard, a file, or a handler on the worker's thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "heed/serve/router.h"
#include "heed/serve/static_files.h"
#include "heed/serve/worker.h"

namespace heed::serve {

// Answers requests that get no further; AccessGuard::stop is one.
using Gate = std::function<std::optional<Response>(const Request&)>;

class Dispatcher {
 public:
  Dispatcher(const Router& router, const StaticFiles& files, Gate gate)
      : router_(router), files_(files), gate_(std::move(gate)) {}

  // The gate's answer; none: the client may ask for what it asks for. One thread may call this.
  std::optional<Response> answer_at_gate(const Request& head) const { return gate_(head); }
  // Behind the gate: what the head of a request alone decides, a refusal or a file.
  std::optional<Response> answer_by_head(const Request& head) const;

  // Handlers run one after the other on a thread of their own, and so does `done`. The token
  // cancels the handler (heed/base/cancellation.h), whether it runs or waits.
  void answer(Request request, std::stop_token token, std::function<void(Response)> done);
  bool has_events(const Request& request) const { return router_.has_events(request); }
  // `done` gets the refusal, or nothing when the stream is taken.
  void open_events(Request request, std::shared_ptr<EventStream> stream,
                   std::function<void(std::optional<Response>)> done);

  // Waits for the handler that is under way; those that wait are dropped without `done`.
  void stop() { worker_.stop(); }

 private:
  const Router& router_;
  const StaticFiles& files_;
  Gate gate_;
  Worker worker_;
};

}  // namespace heed::serve
