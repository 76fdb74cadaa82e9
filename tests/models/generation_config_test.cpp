#include "heed/models/generation_config.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/io/files.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace heed::models {
namespace {

using Ids = std::vector<int>;

struct Folder {
  TemporaryFolder files;
  explicit Folder(const std::string& generation, const std::string& config = foreign) {
    if (!generation.empty()) files.write("generation_config.json", generation);
    if (!config.empty()) files.write("config.json", config);
  }
  GenerationConfig load() const { return load_generation_config(files.path()); }
  static constexpr const char* foreign = R"({"model_type": "marian"})";
  static constexpr const char* own = R"({"model_type": "heed-translation"})";
};

void expect_refused(const std::string& generation, const std::string& message) {
  const Folder folder(generation);
  expect_error(ErrorKind::model, folder.files.file("generation_config.json") + ": " + message,
               [&] { folder.load(); });
}

TEST(GenerationConfig, OfAForeignFolderHasTheDefaultsOfTransformers) {
  const GenerationConfig generation = Folder("{}").load();
  EXPECT_EQ(generation.rules, SearchRules::transformers);
  EXPECT_EQ(generation.beam_size, 1);
  EXPECT_EQ(generation.top_k, 50);
  EXPECT_EQ(generation.early_stopping, EarlyStopping::no);
  EXPECT_EQ(generation.token_rules, TokenRules{});
  EXPECT_EQ(generation.new_tokens(1), 0);
}

TEST(GenerationConfig, OfAForeignFolderIsReadWhole) {
  const GenerationConfig generation = Folder(R"({
      "num_beams": 6, "num_beam_groups": 3, "diversity_penalty": 0.5, "length_penalty": 0.6,
      "early_stopping": true, "max_length": 512, "num_return_sequences": 2, "do_sample": true,
      "temperature": 0.7, "top_k": 0, "top_p": 0.9, "min_p": 0.05, "repetition_penalty": 1.1,
      "no_repeat_ngram_size": 3, "encoder_no_repeat_ngram_size": 4, "min_length": 5,
      "min_new_tokens": 6, "bad_words_ids": [[50], [1, 2], [0]], "suppress_tokens": [7],
      "begin_suppress_tokens": [8, 9], "forced_bos_token_id": 10, "forced_eos_token_id": 0,
      "eos_token_id": [0, 11], "pad_token_id": 50, "bos_token_id": 12,
      "decoder_start_token_id": 50, "use_cache": true, "transformers_version": "4.48.3",
      "typical_p": 1.0, "renormalize_logits": false, "_from_model_config": true})")
                                          .load();
  EXPECT_EQ(generation.beam_size, 6);
  EXPECT_EQ(generation.num_groups, 3);
  EXPECT_EQ(generation.diversity_penalty, 0.5);
  EXPECT_EQ(generation.length_penalty, 0.6);
  EXPECT_EQ(generation.early_stopping, EarlyStopping::yes);
  EXPECT_EQ(generation.num_return_sequences, 2);
  EXPECT_TRUE(generation.do_sample);
  EXPECT_EQ(generation.temperature, 0.7);
  EXPECT_EQ(generation.top_k, 0);
  EXPECT_EQ(generation.top_p, 0.9);
  EXPECT_EQ(generation.min_p, 0.05);
  // The end token is no bad word.
  EXPECT_EQ(generation.token_rules, (TokenRules{.repetition_penalty = 1.1,
                                                .no_repeat_ngram = 3,
                                                .encoder_no_repeat_ngram = 4,
                                                .bad_words = {{50}, {1, 2}},
                                                .min_length = 5,
                                                .min_new_tokens = 6,
                                                .forced_begin = 10,
                                                .forced_ends = {0},
                                                .suppressed = {7},
                                                .begin_suppressed = {8, 9}}));
  const text::SpecialTokens tokens = generation.with_ids({});
  EXPECT_EQ(tokens,
            (text::SpecialTokens{
                .pad = 50, .unknown = 1, .begin = 12, .ends = {0, 11}, .decoder_start = 50}));
}

TEST(GenerationConfig, EarlyStoppingHasThreeForms) {
  const auto early_stopping = [](const std::string& value) {
    return Folder(R"({"early_stopping": )" + value + "}").load().early_stopping;
  };
  EXPECT_EQ(early_stopping("false"), EarlyStopping::no);
  EXPECT_EQ(early_stopping("true"), EarlyStopping::yes);
  EXPECT_EQ(early_stopping("\"never\""), EarlyStopping::never);
  expect_refused(R"({"early_stopping": "later"})",
                 R"(early_stopping: expected one of never, found "later")");
}

TEST(GenerationConfig, MaxLengthCountsThePromptAndMaxNewTokensComesFirst) {
  EXPECT_EQ(Folder(R"({"max_length": 20})").load().new_tokens(5), 15);
  EXPECT_EQ(Folder(R"({"max_length": 20})").load().new_tokens(30), 1);
  EXPECT_EQ(Folder(R"({"max_length": 20, "max_new_tokens": 7})").load().new_tokens(30), 7);
}

TEST(GenerationConfig, WithoutAFileConfigJsonSpeaks) {
  const Folder old("", R"({"model_type": "bart", "num_beams": 4, "eos_token_id": 2})");
  EXPECT_EQ(old.load().beam_size, 4);
  EXPECT_EQ(old.load().ends, Ids{2});
  const Folder both("{}", R"({"model_type": "bart", "num_beams": 4})");
  EXPECT_EQ(both.load().beam_size, 1);
}

TEST(GenerationConfig, WhatWouldChangeTheAnswerAndIsNotSupportedIsRefusedByName) {
  expect_refused(R"({"typical_p": 0.5})",
                 "typical_p: expected none, which is all that is supported, found 0.5");
  expect_refused(R"({"penalty_alpha": 0.6})",
                 "penalty_alpha: expected none, which is all that is supported, found 0.6");
  expect_refused(R"({"stop_strings": ["x"]})",
                 R"(stop_strings: expected none, which is all that is supported, found ["x"])");
  expect_refused(R"({"renormalize_logits": true})",
                 "renormalize_logits: expected none, which is all that is supported, found true");
  EXPECT_NO_THROW(Folder(R"({"typical_p": null, "stop_strings": [], "guidance_scale": 1})").load());
}

TEST(GenerationConfig, IdsThatAreNoneAreRefused) {
  expect_refused(R"({"eos_token_id": -1})",
                 "eos_token_id: expected an integer from 0 to 2147483647, found -1");
  expect_refused(R"({"suppress_tokens": [1, "a"]})",
                 R"(suppress_tokens: expected an integer from 0 to 2147483647, found "a")");
  expect_refused(R"({"bad_words_ids": 3})",
                 "bad_words_ids: expected a list of lists of ids, found 3");
  expect_refused(R"({"bad_words_ids": [[]]})",
                 "bad_words_ids: expected lists of at least one id, found []");
}

TEST(GenerationConfig, AForeignFileIsWrittenAsItWas) {
  const std::string text = "{ \"num_beams\": 4,\n\"x\": [1]}";
  const GenerationConfig generation = Folder(text).load();
  const TemporaryFolder out;
  save_generation_config(out.path(), generation);
  EXPECT_EQ(io::read_file(out.file("generation_config.json")), text);
}

TEST(GenerationConfig, OfHeedsOwnModelsKeepsItsMeaning) {
  EXPECT_EQ(Folder("", Folder::own).load(), GenerationConfig{});
  EXPECT_EQ(Folder(R"({"num_beams": 3, "max_length": 9, "typical_p": 0.5})", Folder::own).load(),
            (GenerationConfig{.beam_size = 3, .max_length = 9}));
  EXPECT_EQ(Folder(R"({"num_beams": 3})", "").load(), GenerationConfig{.beam_size = 3});
}

}  // namespace
}  // namespace heed::models
