// Any text as the target of a request, and its values as handlers read them.
#include "harness.h"
#include "heed/serve/request.h"
#include "heed/serve/target.h"

using namespace heed;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::test(ErrorKind::usage, data, size, [](std::string_view input) {
    const auto target = serve::parse_target(input);
    if (!target) return;
    fuzz::require(target->path.starts_with('/'), "a path that begins with /");
    const serve::Request request{.path = target->path, .query = target->query};
    for (const auto& [name, value] : target->query) {
      fuzz::require(request.query_value(name) == value, "every value by its name");
      fuzz::require(request.query_index(name) >= 0, "an index of 0 or more");
    }
  });
}
