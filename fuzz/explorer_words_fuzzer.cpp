// Any body of POST /api/words, which needs no model.
#include "explorer_api.h"

using namespace heed;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::test(ErrorKind::usage, data, size, [](std::string_view input) {
    fuzz::explorer_api(0).post("/api/words", input);
  });
}
