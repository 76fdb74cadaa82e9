#include <gtest/gtest.h>

#include "heed/models/classifier.h"
#include "heed/models/language_model.h"
#include "heed/models/masked_model.h"
#include "models/small_models.h"
#include "nn/keeping_watcher.h"
#include "support/same_bits.h"

namespace heed::models {
namespace {

// What `run` gives without anybody watching, and with somebody who keeps everything.
template <typename Run>
void expect_watching_changes_nothing(const Run& run) {
  const NoGrad no_grad;
  auto plain = nn::ForwardContext::inference();
  nn::KeepingWatcher watcher;
  auto watched = nn::ForwardContext::inference(&watcher);
  EXPECT_TRUE(same_bits(run(watched), run(plain)));
  EXPECT_FALSE(watcher.views.empty());
  EXPECT_FALSE(watcher.seen.empty());
}

TEST(Watching, ChangesNoBitOfATranslation) {
  for (const TransformerConfig& config : small_configs()) {
    SCOPED_TRACE(to_json(config));
    const TranslationModel model = pack(TranslationModel(config, 1));
    const auto sources = sample_sentences({5, 3}), targets = sample_sentences({4, 6}, 2);
    expect_watching_changes_nothing([&](nn::ForwardContext& context) {
      const Packed memory = model.encode(infer::pack_sources(sources), context);
      return model.logits(model.decode(infer::pack_targets(targets), memory, context));
    });
  }
}

TEST(Watching, ChangesNoBitOfATranslationTokenByToken) {
  for (const TransformerConfig& config : small_configs()) {
    SCOPED_TRACE(to_json(config));
    const TranslationModel model(config, 1);
    expect_watching_changes_nothing([&](nn::ForwardContext& context) {
      const Packed memory = model.encode(infer::pack_sources(sample_sentences({5, 3})), context);
      nn::StackCache state = model.start(memory, std::vector<Index>{2, 1});
      Tensor last;
      for (int step = 0; step < 18; ++step) {
        last = model.step(std::vector<int>{4 + step % 3, 5, 6 + step % 7}, state, context);
      }
      return last;
    });
  }
}

TEST(Watching, ChangesNoBitOfALanguageModelCachedOrNot) {
  for (TransformerConfig config : small_configs()) {
    SCOPED_TRACE(to_json(config));
    config.kind = ModelKind::language;
    config.encoder_layers = 0;
    const LanguageModel model(config, 1);
    const std::vector<int> ids = sample_sentences({20}).front();
    expect_watching_changes_nothing([&](nn::ForwardContext& context) {
      return model.logits(model.hidden({ids, Spans::single(20)}, context));
    });
    expect_watching_changes_nothing([&](nn::ForwardContext& context) {
      nn::StackCache cache = model.start(1);
      model.step({{ids.begin(), ids.begin() + 19}, Spans::single(19)}, cache, context);
      return model.step({{ids.back()}, Spans::single(1)}, cache, context);
    });
  }
}

TEST(Watching, ChangesNoBitOfAnEncoderAlone) {
  const PackedIds lines = infer::pack_sources(sample_sentences({5, 3}));
  const Classifier classifier(small_config(ModelKind::classifier), 1);
  expect_watching_changes_nothing(
      [&](nn::ForwardContext& context) { return classifier.logits(lines, context); });
  const MaskedModel masked(small_config(ModelKind::masked), 1);
  expect_watching_changes_nothing(
      [&](nn::ForwardContext& context) { return masked.encode(lines, context).values; });
}

}  // namespace
}  // namespace heed::models
