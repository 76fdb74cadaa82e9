// Models and sentences that are small enough for tests.
#pragma once

#include <vector>

#include "heed/base/random.h"
#include "heed/infer/packing.h"
#include "heed/models/translation_model.h"

namespace heed::models {

inline TransformerConfig small_config(ModelKind kind = ModelKind::translation) {
  const bool has_decoder = kind == ModelKind::translation || kind == ModelKind::language;
  TransformerConfig config;
  config.kind = kind;
  config.vocabulary = 20;
  config.encoder_layers = kind == ModelKind::language ? 0 : 2;
  config.decoder_layers = has_decoder ? 2 : 0;
  if (kind == ModelKind::classifier || kind == ModelKind::tagger)
    config.labels = {"cold", "mild", "warm"};
  config.model_dim = 16;
  config.feed_forward_dim = 24;
  config.num_heads = 2;
  config.max_positions = 64;
  return config;
}

// Every choice that changes how decoding goes, one after another.
inline std::vector<TransformerConfig> small_configs() {
  std::vector<TransformerConfig> configs;
  for (const Choice<Positions>& positions : choices<Positions>()) {
    configs.push_back(small_config());
    configs.back().positions = positions.value;
  }
  TransformerConfig modern = small_config();
  modern.norm_place = NormPlace::before;
  modern.norm_kind = NormKind::rms;
  modern.activation = Activation::swiglu;
  modern.positions = Positions::rotary;
  modern.num_heads = 4;
  modern.num_key_value_heads = 2;
  modern.tying = Tying::none;
  configs.push_back(modern);
  TransformerConfig cosine = small_config();
  cosine.similarity = ops::Similarity::cosine;
  cosine.activation = Activation::gelu;
  cosine.tying = Tying::target;
  configs.push_back(cosine);
  return configs;
}

inline constexpr WeightFormat quantized_formats[] = {WeightFormat::f16, WeightFormat::bf16,
                                                     WeightFormat::int8, WeightFormat::int4};

// Ids without special tokens, the same in every run.
inline std::vector<std::vector<int>> sample_sentences(std::vector<int> lengths,
                                                      std::uint64_t seed = 1) {
  Rng rng(seed);
  std::vector<std::vector<int>> sentences;
  for (const int length : lengths) {
    std::vector<int> ids(length);
    for (int& id : ids) id = 4 + static_cast<int>(rng.below(16));
    sentences.push_back(std::move(ids));
  }
  return sentences;
}

// Logits of every target position, the first after the end token alone: [N, V].
inline Tensor all_logits(const TranslationModel& model,
                         const std::vector<std::vector<int>>& sources,
                         const std::vector<std::vector<int>>& targets) {
  auto context = nn::ForwardContext::inference();
  const Packed memory = model.encode(infer::pack_sources(sources), context);
  return model.logits(model.decode(infer::pack_targets(targets), memory, context));
}

}  // namespace heed::models
