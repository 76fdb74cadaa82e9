// Conformance cases of ONNX operators, from every onnx/*.jsonl.gz in the folder named by HEED_DATA.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "conformance/onnx_attention.h"
#include "conformance/onnx_layers.h"
#include "conformance/onnx_losses.h"
#include "heed/text/lines.h"

namespace heed::onnx {
namespace {

Results run(Case& c) {
  if (c.op == "Attention") return run_attention(c);
  if (c.op == "LayerNormalization") return run_layer_normalization(c);
  if (c.op == "RMSNormalization") return run_rms_normalization(c);
  if (c.op == "RotaryEmbedding") return run_rotary_embedding(c);
  if (c.op == "Gelu") return run_gelu(c);
  if (c.op == "SwiGLU") return run_swiglu(c);
  if (c.op == "Softmax") return run_softmax(c, ops::softmax);
  if (c.op == "LogSoftmax") return run_softmax(c, ops::log_softmax);
  if (c.op == "SoftmaxCrossEntropyLoss") return run_softmax_cross_entropy(c);
  if (c.op == "NegativeLogLikelihoodLoss") return run_negative_log_likelihood(c);
  fail(ErrorKind::data, "unknown operator ", c.op);
}

void expect_passes(Case c) {
  const Results results = run(c);
  c.attributes.check_all_were_read(c.op);
  for (std::size_t i = 0; i < c.output_names.size(); ++i) {
    if (c.output_names[i].empty()) continue;
    ASSERT_LT(i, results.size()) << "unknown output " << c.output_names[i];
    expect_equal(results[i], c.outputs.at(c.output_names[i]), c.output_names[i]);
  }
}

constexpr char nothing[] = "";  // stands for "no files": the one test is skipped

std::vector<std::string> case_files() {
  std::vector<std::string> files;
  const char* data = std::getenv("HEED_DATA");
  const auto folder = std::filesystem::path(data ? data : "") / "onnx";
  if (data && std::filesystem::is_directory(folder)) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().string().ends_with(".jsonl.gz")) files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  if (files.empty()) files.push_back(nothing);
  return files;
}

class Onnx : public testing::TestWithParam<std::string> {};

TEST_P(Onnx, EveryCasePasses) {
  if (GetParam() == nothing) {
    GTEST_SKIP() << "HEED_DATA does not name a folder with onnx/*.jsonl.gz";
  }
  int count = 0;
  for (const std::string& line : text::read_lines(GetParam(), text::max_running_line_bytes)) {
    if (line.empty()) continue;
    ++count;
    Case c;
    ASSERT_NO_THROW(c = case_of(line)) << "line " << count;
    SCOPED_TRACE(c.name);
    try {
      expect_passes(std::move(c));
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
  EXPECT_GT(count, 0) << "no cases in " << GetParam();
  std::cout << GetParam() << ": " << count << " cases\n";
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = std::filesystem::path(info.param).stem().stem();
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name.empty() ? "NoData" : name;
}

INSTANTIATE_TEST_SUITE_P(Files, Onnx, testing::ValuesIn(case_files()), test_name);

}  // namespace
}  // namespace heed::onnx
