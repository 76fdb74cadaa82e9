// Any text as generation_config.json of a small translation model, which is then run.
#include "reliability/load_and_run.h"
#include "tiny_models.h"

using namespace heed;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool is_saved = (tiny_translation().write_to(fuzz::folder().path()), true);
  return fuzz::test(ErrorKind::model, data, size, [](std::string_view input) {
    fuzz::require(is_saved, "a model");
    fuzz::folder().write("generation_config.json", input);
    const auto generation = models::load_generation_config(fuzz::folder().path());
    // Long searches are allowed, and take their time.
    if (generation.beam_size <= 16 && generation.max_length <= 64) {
      load_and_run(fuzz::folder().path());
    }
  });
}
