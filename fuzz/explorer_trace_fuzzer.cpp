// Any query about a trace, after a byte that chooses the kind of model: weights?site=...
#include <nlohmann/json.hpp>

#include "explorer_api.h"

using namespace heed;

namespace {

// "/api/trace/ID/" of a run over a few words.
std::string trace_path(const fuzz::ExplorerApi& api) {
  const serve::Response run = api.post("/api/run", R"({"text": "the bat hits <mask>"})");
  const auto id = nlohmann::json::parse(run.body).at("trace").get<std::int64_t>();
  return "/api/trace/" + std::to_string(id) + '/';
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string paths[] = {
      trace_path(fuzz::explorer_api(0)), trace_path(fuzz::explorer_api(1)),
      trace_path(fuzz::explorer_api(2)), trace_path(fuzz::explorer_api(3))};
  return fuzz::test(ErrorKind::usage, data, size, [](std::string_view input) {
    const auto [kind, query] = fuzz::split_choice(input);
    fuzz::explorer_api(kind).get(paths[kind % 4] + std::string(query));
  });
}
