// What if: models whose attention works otherwise decode with the same code as any model.
#include "heed/nn/interventions.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/infer/beam_search.h"
#include "heed/infer/fill_mask.h"
#include "heed/infer/line_classifier.h"
#include "heed/infer/scoring.h"
#include "heed/infer/sentence_encoder.h"
#include "heed/infer/text_generator.h"
#include "infer/memorised_generator.h"
#include "infer/memorised_translator.h"
#include "infer/toy_encoders.h"
#include "models/small_models.h"
#include "support/same_bits.h"

namespace heed::infer {
namespace {

using Lines = std::vector<std::string>;

const nn::Interventions nothing;

nn::Interventions without_head(const std::string& layer) {
  nn::Interventions interventions;
  interventions.scales = {{layer, 0, 0}};
  return interventions;
}

// Something of everything, in every layer.
nn::Interventions many_changes() {
  nn::Interventions interventions;
  interventions.scales = {{"encoder.0.self_attention", 0, 0}, {"decoder.1.cross_attention", 1, 2}};
  interventions.knockouts = {{"encoder.1.self_attention", std::nullopt, 0, 1},
                             {"decoder.0.self_attention", 0, 2, 0},
                             {"decoder.1.self_attention", std::nullopt, 3, 1},
                             {"decoder.0.cross_attention", 1, 1, 2},
                             {"decoder.1.cross_attention", std::nullopt, 4, 0}};
  return interventions;
}

TEST(ChangedAttention, ABeamStepByStepHasTheBitsOfTheWholeSentence) {
  for (const models::TransformerConfig& config : models::small_configs()) {
    SCOPED_TRACE(models::to_json(config));
    const models::TranslationModel model(config, 3);
    const nn::Interventions interventions = many_changes();
    const auto sources = models::sample_sentences({5, 3, 9});
    const auto found =
        beam_search(model, pack_sources(sources),
                    {.beam_size = 3, .max_length = 12, .n_best = 3, .hook = &interventions});
    for (std::size_t i = 0; i < sources.size(); ++i) {
      for (const Hypothesis& hypothesis : found[i]) {
        const NoGrad no_grad;
        auto context = nn::ForwardContext::inference(nullptr, &interventions);
        const Packed memory = model.encode(pack_sources({{sources[i]}}), context);
        const Tensor logits =
            model.logits(model.decode(pack_targets({{hypothesis.ids}}), memory, context));
        const std::size_t width = logits.dim(1);
        for (std::size_t row = 0; row < hypothesis.log_probabilities.size(); ++row) {
          const auto all = LogProbabilities::of_logits(logits.values().subspan(row * width, width));
          const bool is_end = row == hypothesis.ids.size();
          EXPECT_EQ(all[is_end ? text::own_tokens::end : hypothesis.ids[row]],
                    hypothesis.log_probabilities[row]);
        }
      }
    }
  }
}

TEST(ChangedAttention, TranslatesOtherwiseUnlessNothingIsChanged) {
  const models::TranslationModelFolder& folder = word_by_word_model();
  const Translator translator(models::pack(folder.model), folder.tokenizer);
  const Lines lines{"one two three", "four", "two two"};
  const auto interventions = without_head("decoder.0.cross_attention");
  const auto translate = [&](const nn::Interventions* with) {
    TranslationOptions options{.search = translator.default_search(), .with_alignment = true};
    options.search.hook = with;
    return translator.translate(lines, options);
  };
  const auto before = translate(nullptr), same = translate(&nothing),
             after = translate(&interventions);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(same[i].best[0].score, before[i].best[0].score);
    EXPECT_EQ(same[i].best[0].alignment, before[i].best[0].alignment);
    EXPECT_NE(after[i].best[0].score, before[i].best[0].score);
  }
}

TEST(ChangedAttention, WritesOtherwiseUnlessNothingIsChanged) {
  const TextGenerator generator(models::pack(rhyme_model().model), rhyme_model().tokenizer);
  const auto interventions = without_head("decoder.1.self_attention");
  const auto write = [&](const nn::Interventions* with) {
    GenerationOptions options{.sampling = {.temperature = 0}, .max_tokens = 40};
    options.hook = with;
    return generator.generate(Lines{"the bat sat"}, options)[0];
  };
  const GeneratedText before = write(nullptr), same = write(&nothing),
                      after = write(&interventions);
  EXPECT_EQ(same.text, before.text);
  EXPECT_EQ(same.tokens[0].log_probability, before.tokens[0].log_probability);
  EXPECT_NE(after.tokens[0].log_probability, before.tokens[0].log_probability);
}

TEST(ChangedAttention, ScoresOtherwiseUnlessNothingIsChanged) {
  const models::TranslationModelFolder& folder = word_by_word_model();
  const auto cross = without_head("decoder.0.cross_attention");
  const PairScorer pairs(folder.model, folder.tokenizer);
  const auto score_pair = [&](const nn::Interventions* with) {
    return pairs.score(Lines{"one two"}, Lines{"eins zwei"}, {.hook = with})[0].log_probability();
  };
  EXPECT_EQ(score_pair(&nothing), score_pair(nullptr));
  EXPECT_NE(score_pair(&cross), score_pair(nullptr));

  const auto own = without_head("decoder.1.self_attention");
  const LineScorer lines(rhyme_model().model, rhyme_model().tokenizer);
  const auto score_line = [&](const nn::Interventions* with) {
    return lines.score(Lines{"the bat"}, {.hook = with})[0].log_probability();
  };
  EXPECT_EQ(score_line(&nothing), score_line(nullptr));
  EXPECT_NE(score_line(&own), score_line(nullptr));
}

TEST(ChangedAttention, ClassifiesFillsAndEncodesOtherwiseUnlessNothingIsChanged) {
  const auto interventions = without_head("encoder.0.self_attention");
  const LineClassifier classifier(toy_classifier().model, toy_classifier().tokenizer);
  const FillMask filler(toy_masked_model().model, toy_masked_model().tokenizer);
  const SentenceEncoder encoder(toy_classifier().model, toy_classifier().tokenizer);
  const auto numbers = [&](const nn::Interventions* with) {
    LineOptions options;
    options.hook = with;
    return std::vector<double>{
        classifier.classify(Lines{"the red"}, 1, options)[0][0].probability,
        filler.fill(Lines{"the <mask> in"}, "<mask>", 1, options)[0][0][0].probability,
        encoder.encode(Lines{"the red"}, options).data()[0]};
  };
  const auto before = numbers(nullptr), same = numbers(&nothing), after = numbers(&interventions);
  EXPECT_EQ(same, before);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NE(after[i], before[i]) << i;
}

}  // namespace
}  // namespace heed::infer
