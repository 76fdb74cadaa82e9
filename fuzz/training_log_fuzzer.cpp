// Any bytes as the log of a training run that the explorer shows.
#include <filesystem>

#include "explorer_api.h"

using namespace heed;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::test(ErrorKind::usage, data, size, [](std::string_view input) {
    const fuzz::ExplorerApi& api = fuzz::explorer_api(0);
    const std::string training = api.model_folder() + "/training";
    std::filesystem::create_directory(training);
    std::ofstream(training + "/metrics.jsonl", std::ios::binary) << input;
    api.get("/api/training");
    api.get("/api/about");
  });
}
