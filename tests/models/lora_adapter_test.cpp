#include "heed/models/lora_adapter.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/io/safetensors.h"
#include "heed/models/model_folder.h"
#include "support/expect_error.h"
#include "support/same_bits.h"
#include "support/sample.h"
#include "support/temporary_folder.h"

namespace heed::models {
namespace {

std::vector<nn::NamedTensor> base() {
  return {{"a.weight", sample({3, 4})}, {"a.bias", sample({3})}};
}

LoraAdapter adapter() {
  return {.base = weights_hash(base()),
          .scale = 0.1f,
          .matrices = {{"a.weight", sample({3, 2}, 2), sample({2, 4}, 3)}},
          .replaced = {{"a.bias", sample({3}, 4)}}};
}

// A saved adapter, with some of its tensors and metadata changed.
struct SavedAdapter {
  TemporaryFolder folder;
  std::string path = folder.file("adapter.safetensors");
  SavedAdapter() { save_adapter(path, adapter()); }

  template <typename Change>
  void rewrite(Change&& change) const {
    const auto file = io::SafetensorsFile::load(path);
    std::vector<io::TensorRecord> records = file.tensors();
    io::Metadata metadata = file.metadata();
    change(records, metadata);
    io::write_safetensors(path, records, metadata);
  }
  void expect_refused(const std::string& message) const {
    expect_error(ErrorKind::model, path + ": " + message, [&] { load_adapter(path); });
  }
};

TEST(LoraAdapter, ComesBackAsItWasWithAChecksum) {
  const SavedAdapter saved;
  EXPECT_TRUE(io::has_checksum(saved.path));
  const LoraAdapter loaded = load_adapter(saved.path);
  EXPECT_EQ(loaded.base, adapter().base);
  EXPECT_EQ(loaded.scale, 0.1f);
  ASSERT_EQ(loaded.matrices.size(), 1u);
  EXPECT_TRUE(same_bits(loaded.matrices[0].up, adapter().matrices[0].up));
  EXPECT_TRUE(same_bits(loaded.matrices[0].down, adapter().matrices[0].down));
  ASSERT_EQ(loaded.replaced.size(), 1u);
  EXPECT_TRUE(same_bits(loaded.replaced[0].value, adapter().replaced[0].value));
}

TEST(LoraAdapter, RefusesAScaleThatIsNoFiniteNumber) {
  for (const char* scale : {"abc", "", "1x", " 1", "nan", "inf", "1e99"}) {
    const SavedAdapter saved;
    saved.rewrite([&](auto&, auto& metadata) { metadata["scale"] = scale; });
    saved.expect_refused(std::string("scale: expected a finite number, found ") + scale);
  }
}

TEST(LoraAdapter, RefusesHalfOfAPairOfMatrices) {
  for (const std::string half : {"a.weight.lora_up", "a.weight.lora_down"}) {
    const SavedAdapter saved;
    saved.rewrite([&](auto& records, auto&) {
      std::erase_if(records, [&](const auto& record) { return record.name == half; });
    });
    saved.expect_refused("expected a tensor named " + half + ", found none");
  }
}

TEST(LoraAdapter, RefusesShapesThatDoNotFitAndRanksBeyondReason) {
  const SavedAdapter saved;
  saved.rewrite([](auto& records, auto&) {
    for (auto& record : records) {
      if (record.name == "a.weight.lora_up") record.shape = {2, 3};
    }
  });
  saved.expect_refused("a.weight: expected matrices [O, R] and [R, I], found [2, 3] and [2, 4]");
  saved.rewrite([](auto& records, auto&) {
    for (auto& record : records) {
      if (!record.name.starts_with("a.weight")) continue;
      const std::int64_t rank = std::int64_t{1} << 40;
      record.shape = record.name.ends_with("up") ? std::vector<std::int64_t>{0, rank}
                                                 : std::vector<std::int64_t>{rank, 0};
      record.bytes = {};
    }
  });
  saved.expect_refused("a.weight: expected a rank from 1 to 65536, found 1099511627776");
}

TEST(LoraAdapter, RefusesNumbersThatAreNotFinite) {
  const SavedAdapter saved;
  LoraAdapter wrong = adapter();
  wrong.matrices[0].down.values()[5] = NAN;
  const std::string message = "a.weight.lora_down[5]: expected a finite weight, found nan";
  expect_error(ErrorKind::model, saved.path + ": " + message,
               [&] { save_adapter(saved.path, wrong); });
  saved.rewrite([&](auto& records, auto&) {
    for (auto& record : records) {
      if (record.name == "a.weight.lora_down") {
        record.bytes = std::as_bytes(wrong.matrices[0].down.values());
      }
    }
  });
  saved.expect_refused(message);
}

TEST(LoraAdapter, MergesIntoWeightsOfItsShapesOnly) {
  auto parameters = base();
  merge(adapter(), parameters);
  EXPECT_FALSE(same_bits(parameters[0].value, base()[0].value));
  EXPECT_TRUE(same_bits(parameters[1].value, adapter().replaced[0].value));

  LoraAdapter other = adapter();
  other.matrices[0].up = sample({5, 2});
  auto again = base();
  expect_error(ErrorKind::model, "adapter: a.weight: expected the shape [3, 4], found [5, 4]",
               [&] { merge(other, again); });
}

}  // namespace
}  // namespace heed::models
