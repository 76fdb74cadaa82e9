#include "heed/explore/cell_arithmetic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "explore/redone_cell.h"
#include "explore/small_folders.h"
#include "heed/explore/run.h"
#include "support/expect_error.h"

namespace heed::explore {
namespace {

using models::ModelKind;

TEST(CellArithmetic, CanBeDoneAgainFromItsNumbersForEveryTranslationModel) {
  for (const models::TransformerConfig& config : models::small_configs()) {
    expect_cells_redone(config, "the bat sleeps");
  }
  models::TransformerConfig before = models::small_config();
  before.norm_place = models::NormPlace::before;
  before.positions = models::Positions::learned;
  expect_cells_redone(before, "the bat sleeps");
}

TEST(CellArithmetic, CanBeDoneAgainForModelsOfTheOtherKinds) {
  expect_cells_redone(models::small_config(ModelKind::language), "the bat sleeps in");
  models::TransformerConfig classes = models::small_config(ModelKind::classifier);
  classes.pooling = models::Pooling::first;
  expect_cells_redone(classes, "the bat sleeps in");
  expect_cells_redone(models::small_config(ModelKind::masked), "the <mask> sleeps in");
  expect_cells_redone(models::small_config(ModelKind::tagger), "the bat sleeps in");
}

// Rows of several blocks, and sums of several chains.
TEST(CellArithmetic, CanBeDoneAgainForLongTextsAndWideModels) {
  std::string text;
  while (text.size() < 800) text += "the bat sleeps in the cave ";
  expect_cells_redone(models::small_config(ModelKind::language), text);
  models::TransformerConfig wide = models::small_config(ModelKind::language);
  wide.model_dim = 528;
  wide.decoder_layers = 1;
  wide.norm_place = models::NormPlace::before;
  expect_cells_redone(wide, "the bat");
}

TEST(CellArithmetic, HalfPrecisionWeightsAreExactToo) {
  const SmallFolder folder;
  const models::TranslationModelFolder loaded =
      models::load_model_folder<models::TranslationModel>(folder.path());
  for (const auto format : {models::WeightFormat::f16, models::WeightFormat::bf16}) {
    const TemporaryFolder other;
    models::save_model_folder(other.path(), loaded.model, loaded.tokenizer, {}, format);
    ExplorerState state(other.path());
    const auto trace = state.traces.find(run(state, "the bat")["trace"]);
    const json cell = cell_of(trace->recording, {"encoder.0.self_attention", 0, 1, 0});
    EXPECT_EQ(cell["exact"], true);
    expect_redone(cell);
  }
}

// The products of wide rows of int8 and int4 weights have an order of their own. What a cell shows
// is the engine's all the same, and it is called exact only where it can be done again.
TEST(CellArithmetic, QuantizedWeightsAreCalledExactOnlyWhereTheyAre) {
  const SmallFolder folder;
  const models::TranslationModelFolder loaded =
      models::load_model_folder<models::TranslationModel>(folder.path());
  for (const auto format : {models::WeightFormat::int8, models::WeightFormat::int4}) {
    const TemporaryFolder other;
    models::save_model_folder(other.path(), loaded.model, loaded.tokenizer, {}, format);
    ExplorerState state(other.path());
    const auto result = run(state, "the bat");
    EXPECT_EQ(result["sites"].size(), 6u);
    const auto trace = state.traces.find(result["trace"]);
    const std::string site = "encoder.0.self_attention";
    const json cell = cell_of(trace->recording, {site, 1, 1, 0});
    if (cell["exact"] == true) expect_redone(cell);
    const Tensor weights = trace->recording.view(site).weights;
    const Index length = weights.dim(1);
    EXPECT_EQ(result_of(cell, "weight"), weights.values()[(length + 1) * length]);
  }
}

// A masked cell gives -0 where the value is negative, and JSON keeps the sign.
TEST(CellArithmetic, TheSignOfAZeroIsKept) {
  const SmallFolder folder(ModelKind::language);
  ExplorerState state = folder.state();
  const auto trace = state.traces.find(run(state, "the bat sleeps")["trace"]);
  const json cell = cell_of(trace->recording, {"decoder.0.self_attention", 0, 0, 2});
  const Floats value = result_of(cell, "value"), share = result_of(cell, "weighted_value");
  EXPECT_TRUE(std::ranges::any_of(value, [](float x) { return x < 0; }));
  for (std::size_t i = 0; i < value.size(); ++i) {
    EXPECT_EQ(share[i], 0);
    EXPECT_EQ(std::signbit(share[i]), std::signbit(value[i]));
  }
  EXPECT_NE(cell.dump().find("-0.0"), std::string::npos);
}

TEST(CellArithmetic, AMaskedCellSaysSo) {
  const SmallFolder folder(ModelKind::language);
  ExplorerState state = folder.state();
  const auto trace = state.traces.find(run(state, "the bat sleeps")["trace"]);
  const json cell = cell_of(trace->recording, {"decoder.0.self_attention", 0, 0, 2});
  EXPECT_TRUE(result_of(cell, "mask").is_null());
  EXPECT_EQ(result_of(cell, "weight"), 0.0);
  EXPECT_EQ(result_of(cell, "logit_share"), 0.0);
}

// The share of the logit is the difference of two passes: without the link, the head's output lacks
// its part.
TEST(CellArithmetic, TheLogitShareIsThatOfAPassWithoutThePart) {
  const SmallFolder folder(ModelKind::language);
  ExplorerState state = folder.state();
  const auto trace = state.traces.find(run(state, "the bat sleeps")["trace"]);
  const Recording& recording = trace->recording;
  const json cell = cell_of(recording, {"decoder.1.self_attention", 1, 2, 1});
  const float moved = result_of(cell, "logit_share");
  Floats share = result_of(cell, "weighted_value");
  nn::Interventions interventions;
  for (float& value : share) value = -value;
  interventions.steering = {{"decoder.1.self_attention", 1, 2, share}};
  const Recording without(recording.shared_session(), recording.input(), interventions);
  const Tensor before = recording.logits(), after = without.logits();
  const Index at = 2 * before.dim(1) + recording.predictions()[2].token;
  EXPECT_EQ(moved, before.values()[at] - after.values()[at]);
  EXPECT_NE(moved, 0.0f);
}

TEST(CellArithmetic, RefusesCellsThatAreNotThere) {
  const SmallFolder folder;
  ExplorerState state = folder.state();
  const auto trace = state.traces.find(run(state, "the bat")["trace"]);
  expect_error(ErrorKind::usage, "encoder.0.self_attention: expected a head from 0 to 1, found 2",
               [&] {
                 cell_arithmetic(trace->recording, {"encoder.0.self_attention", 2, 0, 0});
               });
  EXPECT_THROW(cell_arithmetic(trace->recording, {"encoder.0.self_attention", 0, 99, 0}), Error);
  EXPECT_THROW(cell_arithmetic(trace->recording, {"nowhere", 0, 0, 0}), Error);
}

}  // namespace
}  // namespace heed::explore
