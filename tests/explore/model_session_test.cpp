#include "heed/explore/model_session.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "explore/small_folders.h"
#include "heed/io/files.h"
#include "heed/train/snapshots.h"
#include "heed/train/training_folder.h"
#include "support/expect_error.h"
#include "support/same_bits.h"

namespace heed::explore {
namespace {

using models::ModelKind;

// The weights of another seed as a checkpoint of the folder's training.
void add_checkpoint(const std::string& folder, Index update, float value) {
  const train::TrainingFolder training(folder);
  io::create_folder(training.snapshots());
  models::TranslationModel model = models::load_model<models::TranslationModel>(folder);
  train::Weights weights = nn::named_parameters(model);
  for (nn::NamedTensor& weight : weights) std::ranges::fill(weight.value.values(), value);
  train::Snapshots(training.snapshots(), {.averaged = 0, .kept = 10}).keep(update, weights);
}

TEST(AttentionSites, AreListedInTheOrderOfAPass) {
  std::vector<std::string> names;
  for (const Site& site : attention_sites(models::small_config())) names.push_back(site.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"encoder.0.self_attention", "encoder.1.self_attention",
                                      "decoder.0.self_attention", "decoder.0.cross_attention",
                                      "decoder.1.self_attention", "decoder.1.cross_attention"}));
  const auto cross = attention_sites(models::small_config())[3];
  EXPECT_EQ(cross.part, "cross");
  EXPECT_EQ(cross.queries, "target");
  EXPECT_EQ(cross.keys, "source");
  const auto language = attention_sites(models::small_config(ModelKind::language));
  EXPECT_EQ(language.front().name, "decoder.0.self_attention");
  EXPECT_EQ(language.front().keys, "source");
  EXPECT_TRUE(language.front().is_causal);
}

TEST(ModelSession, HoldsTheModelOfItsKindAndNoOther) {
  for (const ModelKind kind : {ModelKind::translation, ModelKind::language, ModelKind::classifier,
                               ModelKind::masked, ModelKind::tagger}) {
    const SmallFolder folder(kind);
    const ModelSession session(folder.path());
    EXPECT_EQ(session.kind(), kind);
    EXPECT_EQ(session.translation() != nullptr, kind == ModelKind::translation);
    EXPECT_EQ(session.language() != nullptr, kind == ModelKind::language);
    EXPECT_EQ(session.classifier() != nullptr, kind == ModelKind::classifier);
    EXPECT_EQ(session.line_classifier() != nullptr, kind == ModelKind::classifier);
    EXPECT_EQ(session.masked() != nullptr, kind == ModelKind::masked);
    EXPECT_EQ(session.fill_mask() != nullptr, kind == ModelKind::masked);
    EXPECT_EQ(session.tagger() != nullptr, kind == ModelKind::tagger);
    EXPECT_EQ(session.line_tagger() != nullptr, kind == ModelKind::tagger);
    EXPECT_TRUE(session.parameter("embedding.weight").is_defined());
    EXPECT_FALSE(session.parameter("no.such.thing").is_defined());
  }
}

TEST(ModelSession, OpensModelsInFewerBits) {
  const SmallFolder folder;
  const TemporaryFolder other;
  const models::TranslationModelFolder loaded =
      models::load_model_folder<models::TranslationModel>(folder.path());
  models::save_model_folder(other.path(), loaded.model, loaded.tokenizer, loaded.generation,
                            models::WeightFormat::int8);
  const ModelSession session(other.path());
  EXPECT_EQ(session.parameter("embedding.weight").shape(),
            ModelSession(folder.path()).parameter("embedding.weight").shape());
}

TEST(ModelSession, RefusesSitesThatTheModelDoesNotHave) {
  const SmallFolder folder;
  const ModelSession session(folder.path());
  EXPECT_EQ(session.site("decoder.1.cross_attention").layer, 1);
  expect_error(ErrorKind::usage,
               "site: expected one like encoder.0.self_attention, found encoder.9",
               [&] { session.site("encoder.9"); });
}

TEST(SessionStore, WithoutAFolderThereIsNoModel) {
  SessionStore store(std::nullopt);
  EXPECT_FALSE(store.has_model());
  EXPECT_TRUE(store.checkpoints().empty());
  EXPECT_THROW(store.session(), Error);
}

TEST(SessionStore, AFolderWithoutWeightsHasNoModelYet) {
  const TemporaryFolder folder;
  SessionStore store(folder.path());
  EXPECT_FALSE(store.has_model());
  expect_error(ErrorKind::usage, folder.path() + ": expected a model with weights, found none yet",
               [&] { store.session(); });
}

TEST(SessionStore, KeepsASessionUntilTheWeightsChange) {
  const SmallFolder folder;
  SessionStore store(folder.path());
  const auto first = store.session();
  EXPECT_EQ(store.session(), first);

  const models::TranslationModelFolder loaded =
      models::load_model_folder<models::TranslationModel>(folder.path());
  models::TransformerConfig config = loaded.model.config();
  models::save_model_folder(folder.path(), models::TranslationModel(config, 99), loaded.tokenizer);
  const auto second = store.session();
  EXPECT_NE(second, first);
  EXPECT_FALSE(
      same_bits(second->parameter("embedding.weight"), first->parameter("embedding.weight")));
}

TEST(SessionStore, OpensCheckpointsOfTheTraining) {
  const SmallFolder folder;
  SessionStore store(folder.path());
  EXPECT_TRUE(store.checkpoints().empty());
  add_checkpoint(folder.path(), 20, 0.5f);
  add_checkpoint(folder.path(), 100, 0.25f);
  EXPECT_EQ(store.checkpoints(), (std::vector<Index>{20, 100}));
  EXPECT_EQ(store.session(20)->parameter("embedding.weight").data()[0], 0.5f);
  EXPECT_EQ(store.session(100)->parameter("embedding.weight").data()[0], 0.25f);
  EXPECT_EQ(store.session(20)->checkpoint(), 20);
  expect_error(ErrorKind::usage, folder.path() + ": expected the checkpoint 30, found none",
               [&] { store.session(30); });
  // Before the first model there are checkpoints alone.
  std::filesystem::remove(folder.path() + "/model.safetensors");
  EXPECT_TRUE(store.has_model());
  EXPECT_EQ(store.session()->checkpoint(), 100);
}

}  // namespace
}  // namespace heed::explore
