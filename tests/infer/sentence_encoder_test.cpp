#include "heed/infer/sentence_encoder.h"

#include <gtest/gtest.h>

#include "heed/infer/packing.h"
#include "heed/models/encoder.h"
#include "heed/models/model_folder.h"
#include "heed/ops/pooling.h"
#include "infer/memorised_generator.h"
#include "infer/memorised_translator.h"
#include "infer/toy_encoders.h"
#include "models/overflowing_model.h"
#include "support/expect_error.h"
#include "support/same_bits.h"
#include "support/temporary_folder.h"

namespace heed::infer {
namespace {

using Lines = std::vector<std::string>;

const Lines lines{"the red", "a blue in the", "green"};

models::PackedIds packed(const text::Tokenizer& tokenizer, const Lines& some) {
  std::vector<std::vector<int>> ids;
  for (const std::string& line : some) ids.push_back(tokenizer.encode(line));
  return pack_sources(ids);
}

TEST(SentenceEncoder, OfAClassifierGivesThePooledVectors) {
  const models::ClassifierFolder& model = toy_classifier();
  auto context = nn::ForwardContext::inference();
  const Tensor vectors = SentenceEncoder(model.model, model.tokenizer).encode(lines);
  EXPECT_TRUE(same_bits(vectors, model.model.pooled(packed(model.tokenizer, lines), context)));
}

TEST(SentenceEncoder, PutsAPromptOfTheFolderBeforeEveryText) {
  const models::MaskedModelFolder& masked = toy_masked_model();
  models::TransformerConfig config = masked.model.config();
  config.kind = models::ModelKind::encoder;
  const TemporaryFolder folder;
  models::save_model_folder(folder.path(), models::Encoder(config, 1), masked.tokenizer);
  const Tensor plain = SentenceEncoder::load(folder.path()).encode(lines);
  const Tensor prefixed =
      SentenceEncoder::load(folder.path()).encode(Lines{"a the red", "a a blue in the", "a green"});
  const std::string file = "config_sentence_transformers.json";
  folder.write(file, R"({"prompts": {"query": "a ", "text": ""}, "default_prompt_name": "query"})");
  SentenceEncoder encoder = SentenceEncoder::load(folder.path());
  EXPECT_TRUE(same_bits(encoder.encode(lines), prefixed));
  encoder.use_prompt("text");
  EXPECT_TRUE(same_bits(encoder.encode(lines), plain));
  expect_error(
      ErrorKind::usage,
      "`prompt_name`: expected one of the model's prompts, which are query, text, found other",
      [&] { encoder.use_prompt("other"); });
  folder.write(file, R"({"prompts": {"query": "a "}})");
  EXPECT_TRUE(same_bits(SentenceEncoder::load(folder.path()).encode(lines), plain));
  folder.write(file, R"({"default_prompt_name": "query"})");
  EXPECT_THROW(SentenceEncoder::load(folder.path()), Error);
}

TEST(SentenceEncoder, OfOtherModelsGivesTheMeanOfTheEncoder) {
  auto context = nn::ForwardContext::inference();
  const models::MaskedModelFolder& masked = toy_masked_model();
  EXPECT_TRUE(
      same_bits(SentenceEncoder(masked.model, masked.tokenizer).encode(lines),
                ops::mean_rows(masked.model.encode(packed(masked.tokenizer, lines), context))));
  const models::TaggerFolder& tagger = toy_tagger();
  EXPECT_TRUE(
      same_bits(SentenceEncoder(tagger.model, tagger.tokenizer).encode(lines),
                ops::mean_rows(tagger.model.encode(packed(tagger.tokenizer, lines), context))));
  const models::TranslationModelFolder& translator = word_by_word_model();
  const Lines words{"one two", "four"};
  EXPECT_TRUE(same_bits(
      SentenceEncoder(translator.model, translator.tokenizer).encode(words),
      ops::mean_rows(translator.model.encode(packed(translator.tokenizer, words), context))));
}

TEST(SentenceEncoder, ALineIsTheSameToTheBitAloneAndInAnyBatch) {
  const models::MaskedModelFolder& masked = toy_masked_model();
  const SentenceEncoder encoder(masked.model, masked.tokenizer);
  const Tensor together = encoder.encode(lines);
  EXPECT_TRUE(same_bits(encoder.encode(lines, {.batch_tokens = 1}), together));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Tensor row = rows_of(together, i, 1);
    EXPECT_TRUE(same_bits(encoder.encode({&lines[i], 1}), row));
    EXPECT_TRUE(std::ranges::equal(encoder.encode(lines[i]), row.values()));
  }
}

TEST(SentenceEncoder, LoadsEveryModelWithAnEncoderWithTheSameBits) {
  const TemporaryFolder folder;
  const auto expect_same = [&](const auto& model, const std::string& name) {
    models::save_model_folder(folder.file(name), model.model, model.tokenizer);
    EXPECT_TRUE(same_bits(SentenceEncoder::load(folder.file(name)).encode(lines),
                          SentenceEncoder(model.model, model.tokenizer).encode(lines)))
        << name;
  };
  expect_same(toy_classifier(), "classifier");
  expect_same(toy_masked_model(), "masked");
  expect_same(word_by_word_model(), "translation");
  models::save_model_folder(folder.file("writer"), rhyme_model().model, rhyme_model().tokenizer);
  expect_error(ErrorKind::model,
               folder.file("writer") + ": expected a model with an encoder, found heed-language",
               [&] { SentenceEncoder::load(folder.file("writer")); });
}

TEST(SentenceEncoder, RefusesAModelThatMakesNaNOfALine) {
  const auto& [model, tokenizer, generation] = toy_classifier();
  const SentenceEncoder broken(models::overflowing(models::Classifier(model.config(), 1)),
                               tokenizer);
  const std::vector<std::string> lines{"the red"};
  try {
    broken.encode(lines, {.first_line = 7});
    ADD_FAILURE() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::model);
    EXPECT_TRUE(std::string(error.what())
                    .starts_with("line 7: expected a finite vector from the model, found "))
        << error.what();
  }
}

}  // namespace
}  // namespace heed::infer
