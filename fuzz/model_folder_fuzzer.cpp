// A whole model: config.json, a zero byte, model.safetensors. One that loads is run.
#include "reliability/load_and_run.h"
#include "tiny_models.h"

using namespace heed;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::test(ErrorKind::model, data, size, [](std::string_view input) {
    const auto [config, weights] = fuzz::split_at(input, '\0');
    fuzz::folder().write("config.json", config);
    fuzz::folder().write("model.safetensors", weights);
    fuzz::folder().write("tokenizer.model", tiny_tokenizer().bytes());
    load_and_run(fuzz::folder().path());
  });
}
