#include "heed/models/language_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/models/model_folder.h"
#include "heed/models/translation_model.h"
#include "models/same_gradients.h"
#include "models/small_models.h"
#include "support/same_bits.h"
#include "support/temporary_folder.h"

namespace heed::models {
namespace {

std::vector<TransformerConfig> language_configs() {
  std::vector<TransformerConfig> configs = small_configs();
  for (TransformerConfig& config : configs) {
    config.kind = ModelKind::language;
    config.encoder_layers = 0;
  }
  return configs;
}

PackedIds packed(const std::vector<std::vector<int>>& sequences) {
  PackedIds all;
  std::vector<Index> lengths;
  for (const std::vector<int>& ids : sequences) {
    all.ids.insert(all.ids.end(), ids.begin(), ids.end());
    lengths.push_back(std::ssize(ids));
  }
  all.spans = Spans::of_lengths(lengths);
  return all;
}

Tensor logits_of(const LanguageModel& model, const std::vector<std::vector<int>>& sequences) {
  auto context = nn::ForwardContext::inference();
  return model.logits(model.hidden(packed(sequences), context));
}

Tensor rows(const Tensor& matrix, Index begin, Index count) {
  const Index width = matrix.dim(-1);
  return Tensor::from(matrix.values().subspan(begin * width, count * width), {count, width});
}

TEST(LanguageModel, CountsItsParameters) {
  for (const TransformerConfig& config : language_configs()) {
    SCOPED_TRACE(to_json(config));
    LanguageModel model(config, 1);
    Index count = 0;
    for (const nn::NamedTensor& parameter : nn::named_parameters(model)) {
      count += parameter.value.size();
    }
    EXPECT_EQ(num_parameters(config), count);
  }
}

TEST(LanguageModel, ALaterTokenDoesNotChangeEarlierLogits) {
  for (const TransformerConfig& config : language_configs()) {
    SCOPED_TRACE(to_json(config));
    const LanguageModel model(config, 1);
    auto sequences = sample_sentences({9});
    const Tensor before = logits_of(model, sequences);
    sequences[0][6] = sequences[0][6] == 4 ? 5 : 4;
    const Tensor after = logits_of(model, sequences);
    EXPECT_TRUE(same_bits(rows(before, 0, 6), rows(after, 0, 6)));
    EXPECT_FALSE(same_bits(rows(before, 6, 3), rows(after, 6, 3)));
  }
}

TEST(LanguageModel, OtherSequencesChangeNothing) {
  for (const TransformerConfig& config : language_configs()) {
    const LanguageModel model(config, 1);
    const auto sequences = sample_sentences({9, 4, 17});
    const Tensor together = logits_of(model, sequences);
    EXPECT_TRUE(same_bits(rows(together, 9, 4), logits_of(model, {sequences[1]})));
  }
}

TEST(LanguageModel, SomeTokensAtATimeGiveTheBitsOfAllAtOnce) {
  const NoGrad no_grad;
  for (const TransformerConfig& config : language_configs()) {
    SCOPED_TRACE(to_json(config));
    const LanguageModel model = pack(LanguageModel(config, 1));
    const auto sequences = sample_sentences({40, 33});
    const Tensor whole = logits_of(model, sequences);
    nn::StackCache cache = model.start(2);
    std::vector<std::size_t> read(2);
    for (const std::size_t count : {5u, 1u, 1u, 20u, 6u}) {
      std::vector<std::vector<int>> parts;
      for (std::size_t s = 0; s < 2; ++s) {
        parts.emplace_back(sequences[s].begin() + read[s], sequences[s].begin() + read[s] + count);
        read[s] += count;
      }
      auto context = nn::ForwardContext::inference();
      const Tensor logits = model.logits(model.step(packed(parts), cache, context));
      const auto size = static_cast<Index>(count);
      EXPECT_TRUE(same_bits(rows(logits, 0, size), rows(whole, read[0] - count, size)));
      EXPECT_TRUE(same_bits(rows(logits, size, size), rows(whole, 40 + read[1] - count, size)));
    }
  }
}

TEST(LanguageModel, TheLossIsThatOfTheLogits) {
  TransformerConfig config = language_configs().front();
  config.label_smoothing = 0;
  const LanguageModel model(config, 2);
  const auto sequences = sample_sentences({7});
  LanguageBatch batch{packed({{sequences[0].begin(), sequences[0].end() - 1}}),
                      {sequences[0].begin() + 1, sequences[0].end()}};
  auto context = nn::ForwardContext::inference();
  const Loss loss = model.loss(batch, context);
  const Tensor logits = model.logits(model.hidden(batch.input, context));
  double expected = 0;
  for (std::size_t i = 0; i < batch.next.size(); ++i) {
    double total = 0;
    for (std::size_t v = 0; v < 20; ++v) total += std::exp(logits.values()[i * 20 + v]);
    expected += std::log(total) - logits.values()[i * 20 + batch.next[i]];
  }
  EXPECT_NEAR(loss.negative_log_likelihood, expected, 1e-5 * expected);
  EXPECT_NEAR(loss.loss.item(), expected, 1e-5 * expected);
}

TEST(LanguageModel, RowsOfAPromptHaveNoLoss) {
  TransformerConfig config = language_configs().front();
  config.dropout = 0;
  const LanguageModel model(config, 2);
  const PackedIds input = packed(sample_sentences({5, 4}));
  const std::vector<int> next = packed(sample_sentences({5, 4}, 3)).ids;
  const std::vector<Index> answers{3, 4, 7, 8};
  auto context = nn::ForwardContext::inference();
  const auto likelihood = [&](const std::vector<Index>& places) {
    LanguageBatch batch{input, {}, places};
    for (const Index place : places) batch.next.push_back(next[place]);
    return model.loss(batch, context).negative_log_likelihood;
  };
  const double whole = model.loss({input, next}, context).negative_log_likelihood;
  EXPECT_NEAR(likelihood(answers), whole - likelihood({0, 1, 2, 5, 6}), 1e-5 * whole);
  EXPECT_THROW(model.loss({input, {1, 2}, {0}}, context), Error);
}

TEST(LanguageModel, GradientsHaveTheSameBitsForAnyNumberOfThreads) {
  TransformerConfig config = language_configs().front();
  config.attention_dropout = config.activation_dropout = 0.1f;
  const auto sequences = sample_sentences({30, 30, 30});
  LanguageBatch batch{packed(sequences), packed(sample_sentences({30, 30, 30}, 2)).ids};
  expect_same_gradients_for_any_threads([&] { return LanguageModel(config, 1); }, batch);
  batch.places = {3, 4, 40, 41, 89};
  batch.next.resize(batch.places.size());
  expect_same_gradients_for_any_threads([&] { return LanguageModel(config, 1); }, batch);
}

TEST(LanguageModel, ComesBackFromItsFolder) {
  const auto tokenizer =
      text::Tokenizer::train(std::vector<std::string>{"abcdefghijklmno"},
                             {.subwords = text::Subwords::character, .is_running_text = true});
  for (TransformerConfig config : language_configs()) {
    SCOPED_TRACE(to_json(config));
    config.vocabulary = tokenizer.size();
    const TemporaryFolder folder;
    const LanguageModel model(config, 5);
    save_model_folder(folder.path(), model, tokenizer);
    const LanguageModelFolder loaded = load_model_folder<LanguageModel>(folder.path());
    const auto sequences = sample_sentences({6});
    EXPECT_TRUE(same_bits(logits_of(loaded.model, sequences), logits_of(model, sequences)));
    EXPECT_EQ(loaded.tokenizer.bytes(), tokenizer.bytes());
    EXPECT_EQ(weights_hash(load_parameters(folder.path())), weights_hash(parameters(model)));
    EXPECT_THROW(load_model_folder<TranslationModel>(folder.path()), Error)
        << "it is no translation model";
  }
}

}  // namespace
}  // namespace heed::models
