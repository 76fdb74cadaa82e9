#include "heed/models/export_onnx.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "heed/io/files.h"
#include "heed/models/classifier.h"
#include "heed/models/encoder.h"
#include "heed/models/image_classifier.h"
#include "models/small_models.h"
#include "support/expect_error.h"
#include "support/onnx_file.h"
#include "support/temporary_folder.h"

namespace heed::models {
namespace {

template <typename Model>
OnnxFile exported(const Model& model, WeightFormat weights = WeightFormat::f32) {
  const TemporaryFolder folder;
  export_onnx(model, folder.file("model.onnx"), weights);
  return OnnxFile(io::read_file(folder.file("model.onnx")));
}

// Every value is made once, before it is used.
void expect_whole(const OnnxFile& file) {
  EXPECT_FALSE(file.is_damaged);
  std::set<std::string> known;
  for (const auto& [name, axes] : file.inputs) known.insert(name);
  for (const auto& [name, tensor] : file.constants) known.insert(name);
  for (const OnnxNode& node : file.nodes) {
    for (const std::string& input : node.inputs) {
      EXPECT_TRUE(known.contains(input)) << node.operation << ' ' << input;
    }
    for (const std::string& output : node.outputs) {
      EXPECT_TRUE(known.insert(output).second) << output;
    }
  }
  for (const auto& [name, axes] : file.outputs) EXPECT_TRUE(known.contains(name)) << name;
}

TEST(ExportOnnx, AClassifierHasInputsWithFreeAxesAndTransposedMatrices) {
  const Classifier model(small_config(ModelKind::classifier), 1);
  const OnnxFile file = exported(model);
  expect_whole(file);
  const std::vector<std::string> axes{"batch", "sequence"};
  EXPECT_EQ(file.inputs.size(), 2u);
  EXPECT_EQ(file.inputs.at("input_ids"), axes);
  EXPECT_EQ(file.inputs.at("attention_mask"), axes);
  EXPECT_EQ(file.outputs.at("logits"), (std::vector<std::string>{"batch", "3"}));
  EXPECT_EQ(file.metadata.at("label.2"), "warm");
  EXPECT_EQ(file.constants.at("encoder.0.feed_forward.hidden.weight").shape,
            (std::vector<std::int64_t>{16, 24}));
  for (const nn::NamedTensor& one : parameters(model)) {
    if (one.name != "head.weight") continue;
    const std::vector<float> stored = file.constants.at("head.weight").floats();
    EXPECT_EQ(stored[1], one.value.data()[16]);  // row 0, column 1 of the transposed matrix
  }
}

TEST(ExportOnnx, EveryChoiceOfAnEncoderIsAWholeGraph) {
  for (TransformerConfig config : small_configs()) {
    if (config.similarity == ops::Similarity::cosine) continue;
    config.kind = ModelKind::classifier;
    config.decoder_layers = 0;
    config.labels = {"cold", "warm"};
    for (const Pooling pooling : {Pooling::first, Pooling::mean, Pooling::attention}) {
      config.pooling = pooling;
      expect_whole(exported(Classifier(config, 1)));
    }
  }
}

// The node that makes a value.
const OnnxNode& maker(const OnnxFile& file, const std::string& value) {
  const auto found = std::ranges::find_if(
      file.nodes, [&](const OnnxNode& node) { return node.outputs.front() == value; });
  if (found == file.nodes.end()) throw std::runtime_error("no node makes " + value);
  return *found;
}

// Padding on the left stands between a begin token and the words, whose distance it must not
// change.
TEST(ExportOnnx, DistancesAreOfPlacesInTheTextWithoutPadding) {
  TransformerConfig config = small_config(ModelKind::classifier);
  config.positions = Positions::alibi;
  config.pooling = Pooling::first;
  const OnnxFile file = exported(Classifier(config, 1));
  const auto far = std::ranges::find(file.nodes, "Abs", &OnnxNode::operation);
  ASSERT_NE(far, file.nodes.end());
  const OnnxNode& distances = maker(file, far->inputs.front());
  ASSERT_EQ(distances.operation, "Sub");
  for (const std::string& input : distances.inputs) {
    const OnnxNode& places = maker(file, maker(file, input).inputs.front());
    EXPECT_EQ(places.operation, "Mul");
    EXPECT_EQ(maker(file, maker(file, places.inputs[0]).inputs[0]).operation, "CumSum");
  }
}

TEST(ExportOnnx, ASentenceEncoderGivesEmbeddings) {
  TransformerConfig config = small_config(ModelKind::encoder);
  config.token_types = 2;
  config.normalizes = true;
  config.relative_buckets = 8;
  config.relative_max_distance = 16;
  const OnnxFile file = exported(Encoder(config, 1));
  expect_whole(file);
  EXPECT_TRUE(file.inputs.contains("token_type_ids"));
  EXPECT_EQ(file.outputs.at("embeddings"), (std::vector<std::string>{"batch", "16"}));
}

TEST(ExportOnnx, AnImageClassifierReadsPixels) {
  TransformerConfig config = small_config(ModelKind::image_classifier);
  config.vocabulary = 0;
  config.labels = {"a", "b"};
  config.image_height = 8;
  config.image_width = 12;
  config.image_channels = 3;
  config.has_class_token = true;
  const OnnxFile file = exported(ImageClassifier(config, 1));
  expect_whole(file);
  EXPECT_EQ(file.inputs.at("pixel_values"), (std::vector<std::string>{"batch", "3", "8", "12"}));
}

TEST(ExportOnnx, HalvesTakeLessRoom) {
  const Classifier model(small_config(ModelKind::classifier), 1);
  const OnnxFile file = exported(model, WeightFormat::f16);
  expect_whole(file);
  EXPECT_EQ(file.constants.at("head.weight").type, 10u);
  EXPECT_EQ(file.constants.at("head.bias").type, 1u);
}

TEST(ExportOnnx, RefusesCosinesAndIntegers) {
  TransformerConfig config = small_config(ModelKind::classifier);
  expect_error(ErrorKind::model, "weights: expected f32 or f16 for ONNX, found int8",
               [&] { export_onnx(Classifier(config, 1), "unused.onnx", WeightFormat::int8); });
  config.similarity = ops::Similarity::cosine;
  expect_error(ErrorKind::model, "similarity: the ONNX export has dot and scaled_dot, found cosine",
               [&] { export_onnx(Classifier(config, 1), "unused.onnx"); });
}

}  // namespace
}  // namespace heed::models
