#include "heed/explore/training_routes.h"

#include <memory>
#include <nlohmann/json.hpp>

#include "heed/explore/training_events.h"
#include "heed/explore/training_watch.h"

namespace heed::explore {

namespace {

using nlohmann::json;

// Without a model there is no run.
constexpr const char* no_folder = "/dev/null";

}  // namespace

void add_training_routes(serve::Router& router, ExplorerState& state) {
  const std::string folder = state.sessions.has_folder() ? state.sessions.folder() : no_folder;
  const auto watch = std::make_shared<TrainingWatch>(folder);
  router.get("/api/training", [watch](const serve::Request&) {
    watch->look();
    return serve::json_response(watch->history());
  });
  router.get("/api/checkpoints", [folder](const serve::Request&) {
    return serve::json_response(json{{"updates", saved_checkpoints(folder)}});
  });
  const auto events = std::make_shared<TrainingEvents>(folder);
  router.events("/api/training/events",
                [events](const serve::Request&, std::shared_ptr<serve::EventStream> stream) {
                  events->add(std::move(stream));
                });
}

}  // namespace heed::explore
