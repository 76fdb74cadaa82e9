#include "heed/explore/model_routes.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/explore/about.h"
#include "heed/explore/cell_arithmetic.h"
#include "heed/explore/head_words.h"
#include "heed/explore/run.h"
#include "heed/explore/word_paths.h"
#include "heed/io/json_fields.h"

namespace heed::explore {
namespace {

using serve::Request;
using serve::Response;

Response matrix(const Tensor& values) {
  const std::vector<Index> shape(values.shape().sizes().begin(), values.shape().sizes().end());
  return serve::binary_response(values.values(), shape);
}

Response run_response(const Request& request, ExplorerState& state) {
  const nlohmann::json json = request.json();
  const std::string text = io::JsonFields::of(json, "run", ErrorKind::usage).text("text");
  return serve::json_response(run(state, text, run_options_from_json(json)));
}

// The weights of a site; with words=1 between words, with special=0 without special tokens.
Response weights_response(const Request& request, const Trace& trace) {
  return matrix(shown_weights(trace.recording, request.query_value("site"),
                              {.by_word = request.query_index_or("words", 0) != 0,
                               .hide_special = request.query_index_or("special", 1) == 0}));
}

Response cell_response(const Request& request, const Trace& trace) {
  return serve::json_response(
      to_json(cell_arithmetic(trace.recording, {.site = request.query_value("site"),
                                                .head = request.query_index("head"),
                                                .query = request.query_index("query"),
                                                .key = request.query_index("key")})));
}

Response paths_response(const Trace& trace, ExplorerState& state) {
  // From the weights of the folder, whatever checkpoint the trace is of: all share one plane.
  if (!state.plane) state.plane.emplace(plane_table(*state.sessions.session()));
  return serve::json_response(to_json(word_paths(trace.recording, *state.plane), *state.plane));
}

}  // namespace

void add_model_routes(serve::Router& router, ExplorerState& state) {
  router.get("/api/about", [&state](const Request&) { return serve::json_response(about(state)); });
  router.post("/api/run",
              [&state](const Request& request) { return run_response(request, state); });

  const auto trace = [&state](const Request& request) {
    return state.traces.find(request.path_index("id"));
  };
  router.get("/api/trace/{id}/weights", [trace](const Request& request) {
    return weights_response(request, *trace(request));
  });
  router.get("/api/trace/{id}/scores", [trace](const Request& request) {
    return matrix(trace(request)->recording.view(request.query_value("site")).scores);
  });
  router.get("/api/trace/{id}/cell",
             [trace](const Request& request) { return cell_response(request, *trace(request)); });
  router.get("/api/trace/{id}/paths", [trace, &state](const Request& request) {
    return paths_response(*trace(request), state);
  });
}

}  // namespace heed::explore
