// Lines of state, recipe and files in a checkpoint whose checksum fits; or, if the input does not
// begin with {, any bytes as a checkpoint.
#include "heed/models/language_model.h"
#include "heed/train/checkpoint.h"
#include "heed/train/weights.h"
#include "tiny_models.h"

using namespace heed;

namespace {

void write_checkpoint(const std::string& path, std::string_view input,
                      train::Optimizer& optimizer) {
  const auto [state, rest] = fuzz::split_at(input, '\n');
  const auto [recipe, files] = fuzz::split_at(rest, '\n');
  train::WeightsWriter writer;
  for (const char* prefix : {"weights.", "adam.mean.", "adam.square."}) {
    writer.add(prefix, optimizer.parameters());
  }
  writer.write(path, {{"format", "heed-checkpoint-1"},
                      {"state", std::string(state)},
                      {"recipe", std::string(recipe)},
                      {"texts", std::string(files)}});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static models::LanguageModel model(tiny_config(models::ModelKind::language), /*seed=*/1);
  static train::Optimizer optimizer(nn::named_parameters(model), {});
  return fuzz::test(ErrorKind::model, data, size, [](std::string_view input) {
    const std::string path = fuzz::folder().write("checkpoint.safetensors", input);
    if (input.starts_with('{')) {
      try {
        write_checkpoint(path, input, optimizer);
      } catch (const Error&) {
        return;  // metadata that is no UTF-8 is never written
      }
    }
    train::Checkpoint::load(path).restore(optimizer, nullptr);
  });
}
