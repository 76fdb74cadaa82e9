#include "heed/io/onnx_graph.h"

#include <gtest/gtest.h>

#include "heed/base/half.h"
#include "heed/io/files.h"
#include "support/expect_error.h"
#include "support/onnx_file.h"
#include "support/temporary_folder.h"

namespace heed::io {
namespace {

OnnxFile written(OnnxGraph& graph) {
  const TemporaryFolder folder;
  graph.write(folder.file("model.onnx"));
  return OnnxFile(read_file(folder.file("model.onnx")));
}

TEST(OnnxGraph, ComesBackAsItWasMade) {
  OnnxGraph graph("heed");
  const auto x = graph.input("x", OnnxType::f32, {"batch", "2"});
  const auto w = graph.weights("w", {2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  const auto y = graph.node("MatMul", {x, w});
  const auto z = graph.node("Softmax", {y}, {{"axis", std::int64_t{-1}}});
  graph.output("z", z, OnnxType::f32, {"batch", "3"});
  graph.metadata("label.0", "warm");
  const OnnxFile file = written(graph);
  EXPECT_FALSE(file.is_damaged);
  EXPECT_EQ(file.ir_version, 8u);
  EXPECT_EQ(file.opset, 17u);
  EXPECT_EQ(file.metadata.at("label.0"), "warm");
  EXPECT_EQ(file.inputs.at("x"), (std::vector<std::string>{"batch", "2"}));
  EXPECT_EQ(file.outputs.at("z"), (std::vector<std::string>{"batch", "3"}));
  EXPECT_EQ(file.constants.at("w").shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(file.constants.at("w").floats(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  ASSERT_EQ(file.nodes.size(), 3u);
  EXPECT_EQ(file.nodes[0].operation, "MatMul");
  EXPECT_EQ(file.nodes[0].inputs, (std::vector<std::string>{"x", "w"}));
  EXPECT_EQ(file.nodes[1].inputs, file.nodes[0].outputs);
  EXPECT_TRUE(file.nodes[1].attributes.contains("axis"));
  EXPECT_EQ(file.nodes[2].outputs, std::vector<std::string>{"z"});
}

TEST(OnnxGraph, WeightsMayBeStoredAsHalves) {
  OnnxGraph graph("heed");
  const auto w = graph.weights("w", {2}, std::vector<float>{1, -2}, OnnxType::f16);
  graph.output("w32", w, OnnxType::f32, {"2"});
  const OnnxFile file = written(graph);
  EXPECT_EQ(file.constants.at("w").type, 10u);
  std::uint16_t halves[2];
  ASSERT_EQ(file.constants.at("w").bytes.size(), sizeof halves);
  std::memcpy(halves, file.constants.at("w").bytes.data(), sizeof halves);
  EXPECT_EQ(float16_to_float(halves[1]), -2);
  EXPECT_EQ(file.nodes[0].operation, "Cast");
  expect_error(ErrorKind::model, "v: expected numbers up to 65504 for weights of f16, found 70000",
               [&] { graph.weights("v", {1}, std::vector<float>{70000}, OnnxType::f16); });
}

}  // namespace
}  // namespace heed::io
