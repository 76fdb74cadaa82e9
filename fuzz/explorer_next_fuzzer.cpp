// Any body of POST /api/next, after a byte that chooses the kind of model.
#include "explorer_api.h"

using namespace heed;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::test(ErrorKind::usage, data, size, [](std::string_view input) {
    const auto [kind, body] = fuzz::split_choice(input);
    fuzz::explorer_api(kind).post("/api/next", body);
  });
}
