#include "heed/cli/embed_command.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "heed/infer/sentence_encoder.h"
#include "heed/io/files.h"
#include "infer/toy_encoders.h"
#include "support/expect_error.h"

namespace heed::cli {
namespace {

struct SavedEncoder {
  TemporaryFolder folder;
  std::string model = folder.file("model");
  SavedEncoder() {
    models::save_model_folder(model, infer::toy_classifier().model,
                              infer::toy_classifier().tokenizer);
  }
  std::string run(const std::string& input, EmbedOptions options = {}) const {
    options.model = model;
    std::istringstream in(input);
    std::ostringstream out;
    EXPECT_EQ(embed(options, in, out), 0);
    return out.str();
  }
};

TEST(EmbedCommand, PrintsAVectorForEachLine) {
  const SavedEncoder encoder;
  std::istringstream lines(encoder.run("the red\na blue\n"));
  const std::vector<std::string> texts{"the red", "a blue"};
  const Tensor expected = infer::SentenceEncoder::load(encoder.model).encode(texts);
  Index row = 0;
  for (std::string line; std::getline(lines, line); ++row) {
    const auto vector = nlohmann::json::parse(line)["vector"].get<std::vector<float>>();
    const auto values = expected.values().subspan(row * 16, 16);
    EXPECT_TRUE(std::ranges::equal(vector, values)) << line;
  }
  EXPECT_EQ(row, 2);
}

TEST(EmbedCommand, WritesAnArrayForNumpy) {
  const SavedEncoder encoder;
  EXPECT_EQ(encoder.run("the red\na blue\nthe green\n", {.npy = encoder.folder.file("v.npy")}), "");
  const std::string bytes = io::read_file(encoder.folder.file("v.npy"));
  EXPECT_NE(bytes.find("'shape': (3, 16)"), std::string::npos);
  EXPECT_EQ(bytes.size() % 64, (3 * 16 * sizeof(float)) % 64);
}

TEST(EmbedCommand, RefusesABlankLine) {
  const SavedEncoder encoder;
  std::istringstream in("the red\n \n");
  std::ostringstream out;
  expect_error(ErrorKind::data, "line 2: expected text, found a blank line",
               [&] { embed({.model = encoder.model}, in, out); });
}

TEST(EmbedCommand, UnderstandsItsOptions) {
  EXPECT_NO_THROW(embed_command().app()->parse("--model m --npy f.npy --threads 1"));
  EXPECT_THROW(embed_command().app()->parse("--npy f.npy"), CLI::ParseError);
}

}  // namespace
}  // namespace heed::cli
