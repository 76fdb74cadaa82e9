#include "heed/explore/explorer.h"

#include "heed/base/error.h"
#include "heed/explore/decoding_routes.h"
#include "heed/explore/model_routes.h"
#include "heed/explore/page_files.h"
#include "heed/explore/training_routes.h"
#include "heed/explore/word_routes.h"
#include "heed/io/files.h"

namespace heed::explore {
namespace {

serve::Router all_routes(ExplorerState& state) {
  serve::Router router;
  add_word_routes(router);
  add_model_routes(router, state);
  add_decoding_routes(router, state);
  add_training_routes(router, state);
  return router;
}

std::optional<std::string> checked_folder(const std::optional<std::string>& folder) {
  if (folder) io::require_folder(*folder, "a model folder", ErrorKind::model);
  return folder;
}

}  // namespace

Explorer::Explorer(const ExplorerOptions& options)
    : files_(page_files()),
      state_(checked_folder(options.model)),
      router_(all_routes(state_)),
      server_(router_, files_, {.port = options.port}),
      guard_(server_.port()),
      address_(guard_.address()) {
  // A broken model is better refused here than on the page.
  if (state_.sessions.has_folder() && state_.sessions.has_model()) state_.sessions.session();
  server_.start([this](const serve::Request& request) { return guard_.stop(request); });
}

Explorer::~Explorer() { server_.stop(); }

}  // namespace heed::explore
