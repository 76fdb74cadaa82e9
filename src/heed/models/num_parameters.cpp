#include "heed/models/model_kinds.h"
#include "heed/nn/module.h"

namespace heed::models {

Index num_parameters(const TransformerConfig& config) {
  return with_model_class(config.kind, [&]<typename AnyModel>(std::type_identity<AnyModel>) {
    AnyModel model(config, nn::Initializer::meta());
    Index count = 0;
    for (const nn::NamedTensor& parameter : nn::named_parameters(model)) {
      count += parameter.value.size();
    }
    return count;
  });
}

}  // namespace heed::models
