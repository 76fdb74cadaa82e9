// Every kind of model runs with weights in every format.
#include <gtest/gtest.h>

#include "heed/infer/fill_mask.h"
#include "heed/infer/image_labeller.h"
#include "heed/infer/line_classifier.h"
#include "heed/infer/line_tagger.h"
#include "heed/infer/sentence_encoder.h"
#include "heed/models/classifier.h"
#include "heed/models/convert_weights.h"
#include "heed/models/image_classifier.h"
#include "heed/models/masked_model.h"
#include "heed/models/model_folder.h"
#include "heed/models/tagger.h"
#include "models/small_models.h"
#include "support/same_bits.h"
#include "support/temporary_folder.h"

namespace heed::infer {
namespace {

using models::ModelKind;

// Calls expect_same(folder, format, folder of the converted model, folder of its floats) for every
// format. The model in `folder` has weights of f32.
template <typename ExpectSame>
void for_each_format(const TemporaryFolder& folder, ExpectSame&& expect_same) {
  for (const WeightFormat format : models::quantized_formats) {
    SCOPED_TRACE(name_of(format));
    const std::string converted = folder.file(std::string(name_of(format)));
    models::convert_weights(folder.file("f32"), converted, format);
    EXPECT_EQ(models::load_config(converted).weights, format);
    models::convert_weights(converted, converted + "-f32", WeightFormat::f32);
    expect_same(folder.file("f32"), format, converted, converted + "-f32");
  }
}

// A model of letters of this kind, in the folder f32.
template <typename Model>
void save_model(const TemporaryFolder& folder, models::Pooling pooling = models::Pooling::mean) {
  const std::vector<std::string> lines{"abcde fghij klmno pqrst"};
  const auto tokenizer =
      text::Tokenizer::train(lines, {.vocabulary = 40,
                                     .subwords = text::Subwords::character,
                                     .with_mask = Model::kind == ModelKind::masked});
  models::TransformerConfig config = models::small_config(Model::kind);
  config.vocabulary = tokenizer.size();
  config.pooling = pooling;
  models::save_model_folder(folder.file("f32"), Model(config, 5), tokenizer);
}

TEST(QuantizedModels, ClassifiersRunInEveryFormat) {
  for (const Choice<models::Pooling>& pooling : choices<models::Pooling>()) {
    const TemporaryFolder folder;
    save_model<models::Classifier>(folder, pooling.value);
    const auto run = [](const LineClassifier& classifier) {
      const std::vector<std::string> lines{"abc de", "kl"};
      std::vector<double> probabilities;
      for (const auto& classes : classifier.classify(lines, 3)) {
        for (const ClassProbability& one : classes) probabilities.push_back(one.probability);
      }
      return probabilities;
    };
    for_each_format(folder, [&](const auto& f32, WeightFormat format, const auto& converted,
                                const auto& floats) {
      const std::vector<double> expected = run(LineClassifier::load(floats));
      EXPECT_EQ(run(LineClassifier::load(converted)), expected);
      EXPECT_EQ(run(LineClassifier::load(f32, format)), expected);
      const std::vector<std::string> lines{"abc de", "kl"};
      EXPECT_TRUE(same_bits(SentenceEncoder::load(f32, format).encode(lines),
                            SentenceEncoder::load(floats).encode(lines)));
    });
  }
}

TEST(QuantizedModels, TaggersRunInEveryFormat) {
  const TemporaryFolder folder;
  save_model<models::Tagger>(folder);
  const auto run = [](const LineTagger& tagger) {
    std::vector<double> probabilities;
    for (const WordTag& word : tagger.tag("abc de kl")) probabilities.push_back(word.probability);
    return probabilities;
  };
  for_each_format(
      folder, [&](const auto& f32, WeightFormat format, const auto& converted, const auto& floats) {
        const std::vector<double> expected = run(LineTagger::load(floats));
        EXPECT_EQ(run(LineTagger::load(converted)), expected);
        EXPECT_EQ(run(LineTagger::load(f32, format)), expected);
      });
}

TEST(QuantizedModels, MaskedModelsRunInEveryFormat) {
  const TemporaryFolder folder;
  save_model<models::MaskedModel>(folder);
  const auto run = [](const FillMask& model) {
    std::vector<double> probabilities;
    const FilledLine filled = model.fill("ab<mask>d", 9);
    for (const MaskCandidate& one : filled.front()) probabilities.push_back(one.probability);
    return probabilities;
  };
  for_each_format(
      folder, [&](const auto& f32, WeightFormat format, const auto& converted, const auto& floats) {
        const std::vector<double> expected = run(FillMask::load(floats));
        EXPECT_EQ(run(FillMask::load(converted)), expected);
        EXPECT_EQ(run(FillMask::load(f32, format)), expected);
      });
}

TEST(QuantizedModels, ImageClassifiersRunInEveryFormat) {
  const TemporaryFolder folder;
  models::TransformerConfig config = models::small_config(ModelKind::image_classifier);
  config.labels = {"bat", "cave", "racket"};
  config.image_height = config.image_width = 8;
  models::save_model_folder(folder.file("f32"), models::ImageClassifier(config, 5));
  const auto run = [](const ImageLabeller& labeller) {
    std::vector<std::uint8_t> image(64);
    for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<std::uint8_t>(3 * i);
    const std::vector<Pixels> pixels{image};
    std::vector<double> probabilities;
    const auto found = labeller.classify(pixels, 3);
    for (const ClassProbability& one : found.front()) probabilities.push_back(one.probability);
    return probabilities;
  };
  for_each_format(
      folder, [&](const auto& f32, WeightFormat format, const auto& converted, const auto& floats) {
        const std::vector<double> expected = run(ImageLabeller::load(floats));
        EXPECT_EQ(run(ImageLabeller::load(converted)), expected);
        EXPECT_EQ(run(ImageLabeller::load(f32, format)), expected);
      });
}

}  // namespace
}  // namespace heed::infer
