// Any text as config.json. What is valid comes back from its own JSON, and a small model of it is
// built and run.
#include "heed/models/model_folder.h"
#include "heed/models/model_kinds.h"
#include "reliability/load_and_run.h"
#include "tiny_models.h"

using namespace heed;

namespace {

constexpr Index max_parameters = 1 << 16;

bool is_small(const models::TransformerConfig& config) {
  return config.vocabulary <= 64 && config.encoder_layers + config.decoder_layers <= 8 &&
         config.model_dim <= 64 && config.feed_forward_dim <= 64 && config.max_positions <= 1024 &&
         config.image_height * config.image_width <= 1024 &&
         models::num_parameters(config) <= max_parameters;
}

template <typename Model>
void save(const Model& model) {
  if constexpr (models::TextModel<Model>) {
    models::save_model_folder(fuzz::folder().path(), model, tiny_tokenizer());
  } else {
    models::save_model_folder(fuzz::folder().path(), model);
  }
}

void build_and_run(models::TransformerConfig config) {
  config.weights = models::WeightFormat::f32;  // quantized weights have no initial values
  if (models::has_text(config.kind)) config.vocabulary = tiny_tokenizer().size();
  models::with_model_class(config.kind, [&]<typename Model>(std::type_identity<Model>) {
    save(Model(config, /*seed=*/1));
  });
  load_and_run(fuzz::folder().path());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::test(ErrorKind::model, data, size, [](std::string_view input) {
    const auto config = models::transformer_config_from_json(input, "config.json");
    fuzz::require(models::transformer_config_from_json(to_json(config), "again") == config,
                  "the same configuration from its own JSON");
    if (is_small(config)) build_and_run(config);
  });
}
