#include "heed/infer/alignment.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/infer/attention_watcher.h"
#include "heed/infer/packing.h"
#include "models/small_models.h"

namespace heed::infer {
namespace {

TEST(AlignWords, TakesTheHeaviestSourceWordOverHeadsAndPieces) {
  // Two heads, three target pieces (two words), four source pieces (two words and the end).
  const Tensor weights = Tensor::from({0.1f, 0.1f, 0.2f, 0.6f,  //
                                       0.4f, 0.3f, 0.2f, 0.1f,  //
                                       0.0f, 0.0f, 0.9f, 0.1f,  //
                                       0.3f, 0.3f, 0.1f, 0.3f,  //
                                       0.1f, 0.1f, 0.5f, 0.3f,  //
                                       0.3f, 0.3f, 0.3f, 0.1f},
                                      {2, 3, 4});
  const std::vector<Index> source{0, 0, 1}, target{0, 0, 1};
  // Target word 0: source word 0 has 0.2 + 0.7 + 0.6 + 0.2 = 1.7, source word 1 has 1.0.
  // Target word 1: source word 0 has 0.0 + 0.6, source word 1 has 0.9 + 0.3.
  EXPECT_EQ(metrics::to_pharaoh(align_words(weights, source, target)), "0-0 1-1");
  EXPECT_TRUE(align_words(weights, {}, target).empty());
}

TEST(AlignWords, RefusesWeightsOfFewerPieces) {
  const std::vector<Index> three{0, 1, 2};
  EXPECT_THROW(align_words(Tensor::zeros({1, 2, 3}), three, three), Error);
}

TEST(CrossAttentionWeights, HaveTheHeadsOfTheLastLayersAndRowsThatSumToOne) {
  const models::TranslationModel model(models::small_config(), 3);  // 2 layers of 2 heads
  const auto sources = models::sample_sentences({5, 2}), targets = models::sample_sentences({3, 4});
  EXPECT_EQ(cross_attention_weights(model, sources, targets, 1)[0].shape(), (Shape{2, 4, 6}));
  const std::vector<Tensor> both = cross_attention_weights(model, sources, targets, 0);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[1].shape(), (Shape{4, 5, 3}));
  for (Index row = 0; row < 4 * 5; ++row) {
    float sum = 0;
    for (Index key = 0; key < 3; ++key) sum += both[1].values()[row * 3 + key];
    EXPECT_NEAR(sum, 1, 1e-5);
  }
  EXPECT_THROW(cross_attention_weights(model, sources, targets, 2), Error);
}

TEST(AlignmentWeights, AreThoseOfTheGuidedHeadHoweverManyLayersThereAre) {
  const auto sources = models::sample_sentences({5, 2}), targets = models::sample_sentences({3, 4});
  for (const Index layers : {1, 2, 10, 11, 12}) {
    SCOPED_TRACE(layers);
    models::TransformerConfig config = models::small_config();
    config.decoder_layers = layers;
    config.guided_alignment = 0.05f;
    const models::TranslationModel model(config, 3);
    // The head that training guides: the first of the last layer but one.
    const Index guided = std::max<Index>(layers - 2, 0);
    EXPECT_EQ(models::alignment_layer(config),
              "decoder." + std::to_string(guided) + ".cross_attention");
    AttentionWatcher watcher("decoder", "cross_attention", {guided, guided + 1});
    auto context = nn::ForwardContext::inference(&watcher);
    const Packed memory = model.encode(pack_sources(sources), context);
    model.decode(pack_targets(targets), memory, context);

    const std::vector<Tensor> found = alignment_weights(model, sources, targets);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const Tensor heads = watcher.weights(i);  // [H, target + 1, source + 1]
      ASSERT_EQ(found[i].shape(), (Shape{1, heads.dim(1), heads.dim(2)}));
      EXPECT_TRUE(std::ranges::equal(found[i].values(), heads.values().first(found[i].size())));
    }
  }
}

TEST(AttentionWatcher, KeepsTheOrderOfLayersAboveTheTenth) {
  AttentionWatcher watcher("decoder", "cross_attention", {9, 11});
  EXPECT_EQ(watcher.watch("decoder.8.cross_attention"), nullptr);
  EXPECT_EQ(watcher.watch("decoder.9.self_attention"), nullptr);
  watcher.watch("decoder.9.cross_attention")->weights = {Tensor::full({1, 1, 1}, 9)};
  watcher.watch("decoder.10.cross_attention")->weights = {Tensor::full({1, 1, 1}, 10)};
  const Tensor weights = watcher.weights(0);
  EXPECT_EQ(weights.shape(), (Shape{2, 1, 1}));
  EXPECT_EQ(weights.values()[0], 9);
  EXPECT_EQ(weights.values()[1], 10);
}

}  // namespace
}  // namespace heed::infer
