#include "heed/explore/decoding_routes.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "heed/base/error.h"
#include "heed/explore/answer.h"
#include "heed/explore/attribution.h"
#include "heed/explore/beam_tree.h"
#include "heed/explore/next_tokens.h"
#include "heed/io/json_fields.h"

namespace heed::explore {
namespace {

using io::JsonFields;
using nlohmann::json;

constexpr Index default_beam_size = 5;
constexpr Index num_next = 50;

infer::SamplingOptions sampling_of(const JsonFields& request) {
  return {.temperature = request.number_or("temperature", 1),
          .top_k = request.integer_or("top_k", 0),
          .top_p = request.number_or("top_p", 1),
          .min_p = request.number_or("min_p", 0)};
}

void keep_prefix(std::vector<int>& ids, std::optional<Index> prefix) {
  if (!prefix) return;
  check_as(ErrorKind::usage, *prefix >= 1 && *prefix <= std::ssize(ids),
           "prefix: expected a number from 1 to ", ids.size(), ", found ", *prefix);
  ids.resize(static_cast<std::size_t>(*prefix));
}

PassInput input_of(const ModelSession& session, const JsonFields& request) {
  PassInput input{.source = source_ids(session, request.text_or("text", "")), .target = {}};
  if (session.translation()) input.target = target_ids(session, request.text_or("target", ""));
  return input;
}

json attribution_of(const Trace& trace, const serve::Request& request) {
  PredictionTarget target{.place = request.query_index("target")};
  if (request.query.contains("token")) {
    target.token = request.query_index("token");
  }
  const Recording& recording = trace.recording;
  return to_json(attribution(trace.session(), recording.input(), recording.interventions(), target),
                 trace.session());
}

json beam_of(const Trace& trace, const serve::Request& request) {
  const Index size = request.query_index_or("size", default_beam_size);
  check_as(ErrorKind::usage, size >= 1 && size <= max_page_beam_size,
           "size: expected a beam from 1 to ", max_page_beam_size, ", found ", size);
  const BeamTree tree =
      beam_tree(trace.session(), trace.source(), size, &trace.recording.interventions());
  return to_json(tree, trace.session());
}

}  // namespace

json next_tokens_of(const json& body, ExplorerState& state) {
  const JsonFields request = JsonFields::of(body, "next", ErrorKind::usage);
  const infer::SamplingOptions sampling = sampling_of(request);
  if (const std::optional<Index> id = request.optional_integer("trace")) {
    const std::shared_ptr<const Trace> trace = state.traces.find(*id);
    PassInput input = trace->recording.input();
    keep_prefix(trace->session().language() ? input.source : input.target,
                request.optional_integer("prefix"));
    return to_json(
        next_tokens(trace->session(), input, &trace->recording.interventions(), sampling, num_next),
        trace->session());
  }
  const auto session = state.sessions.session(request.optional_integer("checkpoint"));
  const PassInput input = input_of(*session, request);
  return to_json(next_tokens(*session, input, nullptr, sampling, num_next), *session);
}

void add_decoding_routes(serve::Router& router, ExplorerState& state) {
  router.get("/api/trace/{id}/attribution", [&state](const serve::Request& request) {
    const auto trace = state.traces.find(request.path_index("id"));
    return serve::json_response(attribution_of(*trace, request));
  });
  router.get("/api/trace/{id}/beam", [&state](const serve::Request& request) {
    const auto trace = state.traces.find(request.path_index("id"));
    return serve::json_response(beam_of(*trace, request));
  });
  router.post("/api/next", [&state](const serve::Request& request) {
    return serve::json_response(next_tokens_of(request.json(), state));
  });
}

}  // namespace heed::explore
