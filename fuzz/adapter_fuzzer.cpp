// Any bytes as an adapter of a small language model, which it is merged into.
#include "heed/models/language_model.h"
#include "heed/models/lora_adapter.h"
#include "tiny_models.h"

using namespace heed;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const models::LanguageModel model(tiny_config(models::ModelKind::language), /*seed=*/1);
  return fuzz::test(ErrorKind::model, data, size, [](std::string_view input) {
    models::LoraAdapter adapter = models::load_adapter(fuzz::folder().write("adapter", input));
    auto parameters = models::parameters(model);
    adapter.base = models::weights_hash(parameters);
    models::merge(adapter, parameters);
  });
}
