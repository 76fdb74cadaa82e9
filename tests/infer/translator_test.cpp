#include "heed/infer/translator.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "heed/models/model_folder.h"
#include "infer/memorised_translator.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace heed::infer {
namespace {

Translator translator() {
  const models::TranslationModelFolder& folder = word_by_word_model();
  return Translator(folder.model, folder.tokenizer, folder.generation);
}

std::vector<std::string> texts_of(const std::vector<Translation>& translations) {
  std::vector<std::string> texts;
  for (const Translation& translation : translations) texts.push_back(translation.text());
  return texts;
}

TEST(Translator, TranslatesEveryLineInItsPlaceAndLeavesBlankOnesBlank) {
  const std::vector<std::string> lines{"two", "", "one four three", " \t", "four two", "four"};
  EXPECT_EQ(texts_of(translator().translate(lines)),
            (std::vector<std::string>{"zwei", "", "eins vier drei", "", "vier zwei", "vier"}));
  EXPECT_TRUE(translator().translate(std::vector<std::string>{}).empty());
}

TEST(Translator, TranslatesOneLineAsAmongOthers) {
  EXPECT_EQ(translator().translate("one four three"), "eins vier drei");
  EXPECT_EQ(translator().translate(" "), "");
}

TEST(Translator, RefusesALineOfTooManyTokensByItsNumber) {
  std::string line = "one";
  for (int word = 1; word < 40000; ++word) line += " one";
  const std::vector<std::string> lines{"two", line};
  expect_error(ErrorKind::data,
               "line 12: expected a source of at most 32767 tokens, found 40000 (`truncate` "
               "cuts the end)",
               [&] { translator().translate(lines, {.first_line = 11}); });
}

TEST(Translator, QuantizedWeightsTranslateAlikeInBatchesOfAnySize) {
  const WordByWordCorpus corpus;
  const models::TranslationModelFolder& folder = word_by_word_model();
  for (const Choice<models::WeightFormat>& format : choices<models::WeightFormat>()) {
    if (format.value == models::WeightFormat::f32) continue;
    SCOPED_TRACE(format.name);
    const TemporaryFolder quantized;
    models::save_model_folder(quantized.path(), folder.model, folder.tokenizer, {}, format.value);
    const Translator translator = Translator::load(quantized.path());
    const auto together = translator.translate(corpus.sources);
    // Four bits may change a word of so small a model; how it was batched may not.
    if (format.value != models::WeightFormat::int4) {
      EXPECT_EQ(texts_of(together), corpus.targets);
    }
    const auto alone = translator.translate(corpus.sources, {.batch_tokens = 1});
    EXPECT_EQ(texts_of(alone), texts_of(together));
    for (std::size_t i = 0; i < alone.size(); ++i) {
      EXPECT_EQ(alone[i].best.front().score, together[i].best.front().score);
    }
  }
}

TEST(Translator, GreedySearchWithoutScoresFindsTheSameTextsAndAlignments) {
  const std::vector<std::string> lines{"two", "", "one four three", "four two", "four"};
  const BeamSearchOptions greedy{.beam_size = 1};
  const Translator packed(models::pack(translator().model()), translator().tokenizer());
  for (const Translator& one : {translator(), packed}) {
    const auto with = one.translate(lines, {.search = greedy, .with_alignment = true});
    const auto without =
        one.translate(lines, {.search = greedy, .with_alignment = true, .with_scores = false});
    EXPECT_EQ(texts_of(without), texts_of(with));
    for (std::size_t i = 0; i < lines.size(); ++i) {
      EXPECT_EQ(metrics::to_pharaoh(without[i].best[0].alignment),
                metrics::to_pharaoh(with[i].best[0].alignment));
      EXPECT_EQ(without[i].best[0].score, 0);
      EXPECT_TRUE(without[i].best[0].tokens.empty());
    }
    EXPECT_LT(with[0].best[0].score, 0);
  }
  const auto beam = translator().translate(lines, {.with_scores = false});
  EXPECT_LT(beam[0].best[0].score, 0);  // more than one hypothesis compete by their scores
}

TEST(Translator, BatchesOfAnySizeGiveTheSameScoresToTheBit) {
  const std::vector<std::string> lines{"two", "three three", "one four three", "four two"};
  const auto scores = [&](Index batch_tokens) {
    std::vector<double> found;
    for (const Translation& translation :
         translator().translate(lines, {.search = {.n_best = 2}, .batch_tokens = batch_tokens})) {
      for (const TranslatedLine& line : translation.best) found.push_back(line.score);
    }
    return found;
  };
  EXPECT_EQ(scores(1), scores(1000));
  EXPECT_EQ(scores(1).size(), 8u);
}

TEST(Translator, AlignsEachWordWithTheOneThatItTranslates) {
  const std::vector<std::string> lines{"four one three", "", "two four"};
  const auto found = translator().translate(lines, {.with_alignment = true});
  EXPECT_EQ(metrics::to_pharaoh(found[0].best[0].alignment), "0-0 1-1 2-2");
  EXPECT_EQ(metrics::to_pharaoh(found[1].best[0].alignment), "");
  EXPECT_EQ(metrics::to_pharaoh(found[2].best[0].alignment), "0-0 1-1");
}

TEST(Translator, LoadedFromAFolderTranslatesAsBefore) {
  const TemporaryFolder folder;
  const models::TranslationModelFolder& saved = word_by_word_model();
  models::save_model_folder(folder.path(), saved.model, saved.tokenizer, {.beam_size = 2});
  const Translator loaded = Translator::load(folder.path());
  const std::vector<std::string> lines{"four one three"};
  EXPECT_EQ(texts_of(loaded.translate(lines)), (std::vector<std::string>{"vier eins drei"}));
  EXPECT_EQ(loaded.default_search().beam_size, 2);
}

TEST(Translator, OfASharedModelTranslatesWithTheWeightsOfTheMoment) {
  const models::TranslationModelFolder& folder = word_by_word_model();
  models::TranslationModel model(folder.model.config(), 5);
  const Translator shared(model, folder.tokenizer);
  const std::vector<std::string> lines{"four one three"};
  EXPECT_NE(texts_of(shared.translate(lines)), (std::vector<std::string>{"vier eins drei"}));
  const std::vector<nn::NamedTensor> learned = models::parameters(folder.model);
  std::vector<nn::NamedTensor> own = models::parameters(model);
  for (std::size_t i = 0; i < own.size(); ++i) {
    std::ranges::copy(learned[i].value.values(), own[i].value.values().begin());
  }
  EXPECT_EQ(texts_of(shared.translate(lines)), (std::vector<std::string>{"vier eins drei"}));
}

TEST(Translator, RefusesALineLongerThanTheLearnedPositionsByItsNumber) {
  const models::TranslationModelFolder& folder = word_by_word_model();
  models::TransformerConfig config = folder.model.config();
  config.positions = models::Positions::learned;
  config.max_positions = 4;
  const Translator short_sighted(models::TranslationModel(config, 1), folder.tokenizer);
  const std::vector<std::string> lines{"one two three", "one two three four"};
  expect_error(ErrorKind::data,
               "line 8: expected a source of at most 3 tokens, found 4 (`truncate` cuts the end)",
               [&] { short_sighted.translate(lines, {.first_line = 7}); });
  EXPECT_NO_THROW(short_sighted.translate(std::span(lines).first(1), {}));

  const auto cut = short_sighted.translate(lines, {.truncate = true});
  EXPECT_EQ(cut[1].best[0].score, cut[0].best[0].score);
  EXPECT_EQ(cut[1].text(), cut[0].text());
  expect_error(ErrorKind::data, "line 1: expected a prefix of at most 3 tokens, found 4", [&] {
    short_sighted.translate(std::span(lines).first(1), {.prefixes = std::span(lines).last(1)});
  });
}

TEST(Translator, BeginsWithThePrefixOfAllLinesOrOfEach) {
  const std::vector<std::string> lines{"two", "", "one four three"};
  const std::vector<std::string> one{"drei"}, each{"", "eins", "eins vier"};
  const auto with_one = translator().translate(lines, {.prefixes = one});
  EXPECT_TRUE(with_one[0].text().starts_with("drei")) << with_one[0].text();
  EXPECT_EQ(with_one[1].text(), "");
  EXPECT_TRUE(with_one[2].text().starts_with("drei")) << with_one[2].text();
  EXPECT_EQ(texts_of(translator().translate(lines, {.prefixes = each})),
            (std::vector<std::string>{"zwei", "", "eins vier drei"}));
  EXPECT_THROW(translator().translate(lines, {.prefixes = std::span(each).first(2)}), Error);
}

TEST(Translator, LeavesOutForbiddenWordsAndBringsInRequiredOnes) {
  const std::vector<std::string> lines{"two three"}, drei{"drei"}, vier{"vier"}, none;
  const text::Tokenizer& tokenizer = word_by_word_model().tokenizer;
  BeamSearchOptions search;
  search.constraints = Constraints::of_words(drei, none, tokenizer);
  EXPECT_EQ(translator().translate(lines, {.search = search})[0].text().find("drei"),
            std::string::npos);
  search.constraints = Constraints::of_words(none, vier, tokenizer);
  const Translation found = translator().translate(lines, {.search = search})[0];
  EXPECT_NE(found.text().find("vier"), std::string::npos) << found.text();
  EXPECT_EQ(found.best[0].num_missing, 0);
}

TEST(Translator, TellsTheTokensAndWhatTheyCost) {
  const std::vector<std::string> lines{"two three"};
  const TranslatedLine found = translator().translate(lines)[0].best[0];
  std::vector<int> ids;
  double sum = 0;
  for (const TokenScore& token : found.tokens) {
    ids.push_back(token.token);
    sum += token.log_probability;
  }
  ASSERT_FALSE(ids.empty());
  EXPECT_EQ(ids.back(), text::own_tokens::end);
  EXPECT_EQ(word_by_word_model().tokenizer.decode(ids), "zwei drei");
  EXPECT_EQ(sum, found.score);
}

}  // namespace
}  // namespace heed::infer
