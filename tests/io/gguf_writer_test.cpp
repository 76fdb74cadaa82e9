#include "heed/io/gguf_writer.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "heed/base/random.h"
#include "heed/io/files.h"
#include "support/expect_error.h"
#include "support/gguf_file.h"
#include "support/temporary_folder.h"

namespace heed::io {
namespace {

GgufFile written(const GgufWriter& writer) {
  const TemporaryFolder folder;
  writer.write(folder.file("model.gguf"));
  return GgufReader(read_file(folder.file("model.gguf"))).read();
}

std::vector<float> sample(std::size_t count, float size) {
  Rng rng(7);
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(size * static_cast<float>(rng.normal()));
  }
  return values;
}

TEST(GgufWriter, MetadataOfEveryTypeComesBack) {
  GgufWriter writer;
  writer.number("a.number", 7);
  writer.real("a.real", 0.5f);
  writer.flag("a.flag", true);
  writer.text("a.text", "h\xc3\xa9");
  const std::vector<std::string> texts{"one", "", "three"};
  const std::vector<float> reals{1, -2};
  const std::vector<std::int32_t> integers{3, -4};
  writer.texts("a.texts", texts);
  writer.reals("a.reals", reals);
  writer.integers("a.integers", integers);
  const GgufFile file = written(writer);
  EXPECT_EQ(file.metadata.size(), 7u);
  EXPECT_EQ(file.get<std::uint32_t>("a.number"), 7u);
  EXPECT_EQ(file.get<float>("a.real"), 0.5f);
  EXPECT_TRUE(file.get<bool>("a.flag"));
  EXPECT_EQ(file.get<std::string>("a.text"), "h\xc3\xa9");
  EXPECT_EQ(file.get<std::vector<std::string>>("a.texts"), texts);
  EXPECT_EQ(file.get<std::vector<float>>("a.reals"), reals);
  EXPECT_EQ(file.get<std::vector<std::int32_t>>("a.integers"), integers);
}

TEST(GgufWriter, TensorsOfEveryTypeComeBackWithTheContiguousAxisFirst) {
  const std::vector<float> values = sample(3 * 64, 1);
  GgufWriter writer;
  writer.tensor("vector", {3}, GgufType::f32, [] { return std::vector<float>{1, 2, 3}; });
  writer.tensor("half", {3, 64}, GgufType::f16, [&] { return values; });
  writer.tensor("blocks", {3, 64}, GgufType::q8_0, [&] { return values; });
  const GgufFile file = written(writer);
  EXPECT_EQ(file.tensors.at("vector").values, (std::vector<float>{1, 2, 3}));
  for (const auto& [name, tolerance] : {std::pair{"half", 0.002f}, std::pair{"blocks", 0.02f}}) {
    const GgufTensor& tensor = file.tensors.at(name);
    EXPECT_EQ(tensor.sizes, (std::vector<std::uint64_t>{64, 3}));
    ASSERT_EQ(tensor.values.size(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR(tensor.values[i], values[i], tolerance) << name << ' ' << i;
    }
  }
}

// The scale is a float16, whose rounding the integers make up for except at the ends.
TEST(GgufWriter, BlocksAreOffByHalfAStepAtMost) {
  const std::vector<float> values = sample(32 * 200, 3);
  std::string bytes;
  append_q8_0(bytes, values);
  ASSERT_EQ(bytes.size(), 200u * 34);
  for (std::size_t block = 0; block < 200; ++block) {
    std::uint16_t half = 0;
    std::memcpy(&half, bytes.data() + block * 34, 2);
    const float scale = float16_to_float(half);
    for (std::size_t i = 0; i < 32; ++i) {
      const auto steps = static_cast<std::int8_t>(bytes[block * 34 + 2 + i]);
      EXPECT_LE(std::abs(values[block * 32 + i] - scale * static_cast<float>(steps)),
                0.5f * scale + 127 * scale * 0x1p-11f);
    }
  }
}

TEST(GgufWriter, ABlockOfZerosIsZeros) {
  std::string bytes;
  append_q8_0(bytes, std::vector<float>(32, 0.0f));
  EXPECT_EQ(bytes, std::string(34, '\0'));
}

TEST(GgufWriter, RefusesRowsWithoutWholeBlocksAndNumbersBeyondTheType) {
  GgufWriter writer;
  expect_error(ErrorKind::failed, "w: expected rows of whole blocks of 32", [&] {
    writer.tensor("w", {2, 40}, GgufType::q8_0, [] { return std::vector<float>(); });
  });
  writer.tensor("w", {1}, GgufType::f16, [] { return std::vector<float>{70000}; });
  const TemporaryFolder folder;
  expect_error(ErrorKind::model,
               "w: expected numbers up to 65504 for this format of weights, found 70000",
               [&] { writer.write(folder.file("model.gguf")); });
  EXPECT_FALSE(std::filesystem::exists(folder.file("model.gguf")));
}

}  // namespace
}  // namespace heed::io
