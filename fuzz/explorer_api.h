// The explorer's routes over a small model of each kind, without a server.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "explore/small_folders.h"
#include "harness.h"
#include "heed/explore/decoding_routes.h"
#include "heed/explore/model_routes.h"
#include "heed/explore/training_routes.h"
#include "heed/explore/word_routes.h"
#include "heed/models/classifier.h"
#include "heed/models/language_model.h"
#include "heed/models/masked_model.h"
#include "heed/serve/target.h"

namespace heed::fuzz {

class ExplorerApi {
 public:
  explicit ExplorerApi(models::ModelKind kind) : model_(kind), state_(model_.path()) {
    explore::add_word_routes(router_);
    explore::add_model_routes(router_, state_);
    explore::add_decoding_routes(router_, state_);
    explore::add_training_routes(router_, state_);
  }
  ExplorerApi(const ExplorerApi&) = delete;
  ExplorerApi& operator=(const ExplorerApi&) = delete;

  const std::string& model_folder() const { return model_.path(); }

  // Whatever the client sends, the server does not fail.
  serve::Response post(const std::string& path, std::string_view body) const {
    return answer({.method = "POST", .path = path, .body = std::string(body)});
  }
  serve::Response get(std::string_view target) const {
    const auto parsed = serve::parse_target(target);
    if (!parsed) return {.status = 400};
    return answer({.path = parsed->path, .query = parsed->query});
  }

 private:
  serve::Response answer(serve::Request request) const {
    serve::Response response = router_.answer(std::move(request));
    require(response.status < 500, "no failure of the server, found: " + response.body);
    return response;
  }

  explore::SmallFolder model_;
  explore::ExplorerState state_;
  serve::Router router_;
};

// Chosen by the first byte of an input.
inline const ExplorerApi& explorer_api(unsigned char choice) {
  using models::ModelKind;
  static const ExplorerApi translation(ModelKind::translation), language(ModelKind::language),
      classifier(ModelKind::classifier), masked(ModelKind::masked);
  const ExplorerApi* all[] = {&translation, &language, &classifier, &masked};
  return *all[choice % 4];
}

}  // namespace heed::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  return heed::fuzz::prepare([] { heed::fuzz::explorer_api(0); });
}
