#include "heed/train/auto_recipe.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heed/train/task_types.h"

namespace heed::train {
namespace {

using models::ModelKind;

constexpr double two_cores = 2e11;

TextSize lines_of(Index lines, Index tokens_per_line, Index distinct) {
  return {lines, distinct, lines * tokens_per_line, 3 * tokens_per_line};
}

DataSize captions() { return {lines_of(29'000, 13, 29'000), lines_of(29'000, 12, 29'000)}; }
DataSize many_sentences() {
  return {lines_of(1'000'000, 20, 900'000), lines_of(1'000'000, 20, 900'000)};
}
DataSize questions() { return {lines_of(10'000, 60, 10'000), lines_of(10'000, 1, 6)}; }
DataSize requests() { return {lines_of(15'000, 8, 15'000), lines_of(15'000, 1, 150)}; }
DataSize reviews() { return {lines_of(25'000, 230, 25'000), lines_of(25'000, 1, 2)}; }
DataSize plays() { return {lines_of(40'000, 7, 33'000), {}}; }
DataSize library() { return {lines_of(4'000'000, 12, 4'000'000), {}}; }
DataSize images_of(Index count, Index height, Index width, Index channels) {
  DataSize size;
  size.images = {count, height, width, channels};
  return size;
}
DataSize digits() { return images_of(60'000, 28, 28, 1); }
DataSize small_photos() { return images_of(50'000, 32, 32, 3); }
DataSize photos() { return images_of(2'000, 375, 500, 3); }

Recipe in_minutes(ModelKind kind, const DataSize& data, double count) {
  return auto_recipe(kind, data, {minutes(count), two_cores});
}

TEST(AutoRecipe, IsTheSameForTheSameArguments) {
  EXPECT_EQ(to_json(in_minutes(ModelKind::translation, captions(), 10)),
            to_json(in_minutes(ModelKind::translation, captions(), 10)));
}

TEST(AutoRecipe, AShortRunHasSmallerBatchesAndASmallerModel) {
  const Recipe quick = in_minutes(ModelKind::translation, captions(), 2);
  const Recipe slow = in_minutes(ModelKind::translation, captions(), 60);
  EXPECT_LT(quick.training.batch_tokens, slow.training.batch_tokens);
  EXPECT_LT(quick.model.encoder_layers, slow.model.encoder_layers);
  EXPECT_LT(quick.model.dropout, slow.model.dropout);
}

TEST(AutoRecipe, AFasterMachineIsLikeMoreTime) {
  const RunBudget fast{minutes(2), 30 * two_cores};
  EXPECT_EQ(auto_recipe(ModelKind::translation, captions(), fast).model.dropout,
            in_minutes(ModelKind::translation, captions(), 60).model.dropout);
}

TEST(AutoRecipe, TextsThatAreSeenOnceOrTwiceNeedLittleDropout) {
  EXPECT_LE(in_minutes(ModelKind::translation, many_sentences(), 60).model.dropout, 0.1f);
}

TEST(AutoRecipe, ShortAnswersThatRepeatGetTheCurriculum) {
  const Recipe recipe = in_minutes(ModelKind::translation, questions(), 6);
  EXPECT_GT(recipe.training.curriculum, 0);
  EXPECT_EQ(recipe.training.validation_metrics, "exact-match");
  EXPECT_EQ(in_minutes(ModelKind::translation, captions(), 6).training.curriculum, 0);
}

TEST(AutoRecipe, BatchesHoldEnoughLongTexts) {
  const Recipe recipe = in_minutes(ModelKind::classifier, reviews(), 10);
  EXPECT_GE(recipe.training.batch_tokens, 32 * 230);
  EXPECT_GE(recipe.training.max_length, 3 * 230);
  EXPECT_EQ(in_minutes(ModelKind::classifier, requests(), 2).training.batch_tokens, 1024);
  EXPECT_EQ(in_minutes(ModelKind::tagger, reviews(), 10).training.batch_tokens,
            recipe.training.batch_tokens);
}

TEST(AutoRecipe, AShortTextIsReadAsCharactersAndALongOneAsPieces) {
  EXPECT_EQ(in_minutes(ModelKind::language, plays(), 10).tokenizer.subwords,
            text::Subwords::character);
  EXPECT_EQ(in_minutes(ModelKind::language, library(), 10).tokenizer.subwords, text::Subwords::bpe);
}

TEST(AutoRecipe, APromptAndItsAnswerHaveRoomInTheContext) {
  const Recipe recipe = in_minutes(ModelKind::language, many_sentences(), 30);
  EXPECT_GE(recipe.model.max_positions, 3 * 20 + 3 * 20);
  EXPECT_EQ(recipe.training.max_length, recipe.model.max_positions);
  EXPECT_GE(recipe.training.batch_tokens, recipe.training.max_length);
  EXPECT_EQ(recipe.tokenizer.subwords, text::Subwords::bpe);
  EXPECT_EQ(recipe.training.validation_metrics, "exact-match");
  EXPECT_EQ(recipe.training.curriculum, 0);
  EXPECT_GT(in_minutes(ModelKind::language, questions(), 6).training.curriculum, 0);
}

TEST(AutoRecipe, ALanguageModelGrowsWithTheTime) {
  Index width = 0;
  for (const double count : {2.0, 60.0, 2000.0}) {
    const Index wider = in_minutes(ModelKind::language, library(), count).model.model_dim;
    EXPECT_GT(wider, width) << count;
    width = wider;
  }
}

TEST(AutoRecipe, ImagesKeepTheirSizeAndHaveABoundedNumberOfPatches) {
  const auto model_for = [](const DataSize& data) {
    return in_minutes(ModelKind::image_classifier, data, 60).model;
  };
  const models::TransformerConfig small = model_for(small_photos());
  EXPECT_EQ(small.image_height, 32);
  EXPECT_EQ(small.image_width, 32);
  EXPECT_EQ(small.image_channels, 3);
  EXPECT_EQ(small.patch_side, 4);
  EXPECT_EQ(model_for(digits()).image_height, 28);
  EXPECT_EQ(model_for(digits()).image_channels, 1);
  const models::TransformerConfig large = model_for(photos());
  EXPECT_EQ(large.image_width, 64);
  EXPECT_EQ(large.image_height, 48);
  for (const Index height : {1, 3, 30, 31, 96, 4000}) {
    for (const Index width : {2, 37, 64, 1000}) {
      const models::TransformerConfig odd = model_for(images_of(100, height, width, 3));
      EXPECT_LE(models::num_patches(odd), 72) << height << " x " << width;
    }
  }
}

TEST(AutoRecipe, AnImageClassifierGrowsWithTheTimeAndTheNumberOfImages) {
  const auto width_in = [](const DataSize& data, double count) {
    return in_minutes(ModelKind::image_classifier, data, count).model.model_dim;
  };
  EXPECT_EQ(in_minutes(ModelKind::image_classifier, digits(), 1).model.patch_side, 7);
  EXPECT_EQ(width_in(small_photos(), 5), 64);
  EXPECT_EQ(width_in(small_photos(), 60), 128);
  EXPECT_GT(width_in(small_photos(), 600), 128);
  EXPECT_LT(width_in(photos(), 600), width_in(small_photos(), 600));
  EXPECT_EQ(in_minutes(ModelKind::image_classifier, small_photos(), 60).model.dropout, 0);
}

TEST(AutoRecipe, ImagesWithoutALimitOfTimeHaveAModelOfTenMinutes) {
  const RunBudget epochs_only{epochs(30), two_cores}, ten_minutes{minutes(10), two_cores};
  EXPECT_EQ(auto_recipe(ModelKind::image_classifier, small_photos(), epochs_only).model.model_dim,
            auto_recipe(ModelKind::image_classifier, small_photos(), ten_minutes).model.model_dim);
}

TEST(AutoRecipe, FitsPatchesAndImageSizesToEachOther) {
  const auto model_with = [](const Settings& settings) {
    Recipe recipe = recipe_preset("images");
    customize(recipe, settings);
    fit_to_settings(recipe, settings);
    EXPECT_NO_THROW(models::validate(recipe.model));
    return recipe.model;
  };
  EXPECT_EQ(model_with({{"image-height", "40"}, {"image-width", "40"}}).patch_side, 5);
  EXPECT_EQ(model_with({{"image-height", "37"}, {"image-width", "37"}}).patch_side, 37);
  EXPECT_EQ(model_with({{"patch-side", "8"}}).image_height, 32);
  EXPECT_EQ(model_with({}), recipe_preset("images").model);
  Recipe recipe = recipe_preset("images");
  const Settings huge{{"image-height", "9000000000000000000"}};
  customize(recipe, huge);
  EXPECT_THROW(fit_to_settings(recipe, huge), Error);
}

TEST(AutoRecipe, KeepsWhatWasGivenAndFitsTheRest) {
  const Recipe recipe = auto_recipe(
      ModelKind::translation, captions(), {minutes(60), two_cores},
      {{"batch-tokens", "100"}, {"width", "66"}, {"vocabulary", "777"}, {"warm-up", "9"}});
  EXPECT_EQ(recipe.training.batch_tokens, 100);
  EXPECT_EQ(recipe.training.max_length, 100);
  EXPECT_EQ(recipe.model.model_dim, 66);
  EXPECT_EQ(recipe.model.model_dim % recipe.model.num_heads, 0);
  EXPECT_EQ(recipe.tokenizer.vocabulary, 777);
  EXPECT_FALSE(recipe.tokenizer.fit_vocabulary);
  EXPECT_EQ(recipe.training.schedule.max_warm_up_share, 1);
  EXPECT_NO_THROW(validate(recipe));
}

// Whatever the data and the time, the recipe can be used, and differs from the preset of its task
// only in settings that are said to be chosen.
TEST(AutoRecipe, IsValidAndDiffersFromThePresetOnlyWhereItSaysSo) {
  const std::vector<DataSize> sizes{captions(), many_sentences(), questions(), requests(),
                                    reviews(),  plays(),          library(),   {},
                                    digits(),   small_photos(),   photos()};
  for (const TaskType& type : task_types()) {
    for (const DataSize& data : sizes) {
      const bool has_answers = data.target.lines > 0;  // of prompts; a text has none
      if (type.model == ModelKind::language && has_answers != (type.preset == "prompts")) continue;
      for (const RunLength& after : {minutes(0.1), minutes(2), minutes(60), minutes(6000),
                                     updates(10), updates(100'000), epochs(1), epochs(500)}) {
        Recipe recipe = auto_recipe(type.model, data, {after, two_cores});
        EXPECT_EQ(recipe.model.kind, type.model);
        EXPECT_EQ(recipe.training.after, after);
        ASSERT_NO_THROW(validate(recipe)) << type.name << ' ' << to_json(recipe);
        Recipe preset = recipe_preset(type.preset);
        const auto fields = recipe_fields(recipe), usual = recipe_fields(preset);
        for (std::size_t i = 0; i < fields.size(); ++i) {
          if (fields[i].name == "after" || fields[i].get() == usual[i].get()) continue;
          EXPECT_TRUE(is_chosen(fields[i].name)) << type.name << ' ' << fields[i].name;
        }
      }
    }
  }
}

TEST(AutoRecipe, EstimatesEpochsFromEachLimit) {
  Recipe recipe = recipe_preset("tiny");
  const DataSize data = captions();
  EXPECT_EQ(estimated_epochs(recipe, data, {epochs(7), two_cores}), 7);
  EXPECT_NEAR(estimated_epochs(recipe, data, {updates(1000), two_cores}),
              1000.0 * 4096 / (29'000 * 13), 1e-9);
  const double ten = estimated_epochs(recipe, data, {minutes(10), two_cores});
  EXPECT_NEAR(estimated_epochs(recipe, data, {minutes(20), two_cores}), 2 * ten, 1e-9);
  EXPECT_NEAR(estimated_epochs(recipe, data, {minutes(10), 3 * two_cores}), 3 * ten, 1e-9);
}

}  // namespace
}  // namespace heed::train
