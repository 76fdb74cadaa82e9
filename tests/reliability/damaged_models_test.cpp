// Files that were cut short or have a flipped bit: refused, or harmless. Weights are refused
// always.
#include "heed/base/sanitizer.h"
#include "reliability/expect_refused.h"

namespace heed {
namespace {

using models::ModelKind;

// The sanitizer makes a try slow: then one place of so many is tried.
constexpr std::size_t step = HEED_ADDRESS_SANITIZER ? 31 : 1;

// Writes damaged copies of one file of a model, and loads and runs the model.
class Damage {
 public:
  Damage(ModelKind kind, std::string file) : file_(std::move(file)) {
    ModelFiles model = tiny_model(kind);
    model.write_to(folder_.path());
    whole_ = model[file_];
  }

  const std::string& whole() const { return whole_; }

  // Whether the model still runs; otherwise it has been refused as a bad model.
  bool still_runs(const std::string& bytes) const {
    folder_.write(file_, bytes);
    try {
      load_and_run(folder_.path());
      return true;
    } catch (const Error& error) {
      EXPECT_EQ(exit_code(error.kind()), bad_model) << error.what();
      return false;
    }
  }

  // How many of the files run that end before their last byte.
  Index num_prefixes_that_run() const {
    Index count = 0;
    for (std::size_t missing = 1; missing <= whole_.size(); missing += step) {
      count += still_runs(whole_.substr(0, whole_.size() - missing));
    }
    return count;
  }

  // The bytes in which one bit can be flipped so that the model still runs.
  std::vector<std::size_t> bytes_with_harmless_flips() const {
    std::vector<std::size_t> harmless;
    for (std::size_t bit = 0; bit < 8 * whole_.size(); bit += step) {
      std::string bytes = whole_;
      bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
      if (still_runs(bytes)) harmless.push_back(bit / 8);
    }
    return harmless;
  }

 private:
  TemporaryFolder folder_;
  std::string file_;
  std::string whole_;
};

TEST(DamagedModel, EveryPrefixOfTheWeightsIsRefused) {
  EXPECT_EQ(Damage(ModelKind::translation, "model.safetensors").num_prefixes_that_run(), 0);
  EXPECT_EQ(Damage(ModelKind::classifier, "model.safetensors").num_prefixes_that_run(), 0);
}

TEST(DamagedModel, EveryPrefixOfTheConfigurationIsRefused) {
  // Only the last byte, a line end, is not needed.
  EXPECT_EQ(Damage(ModelKind::translation, "config.json").num_prefixes_that_run(), 1);
  EXPECT_EQ(Damage(ModelKind::classifier, "config.json").num_prefixes_that_run(), 1);
  EXPECT_EQ(Damage(ModelKind::translation, "generation_config.json").num_prefixes_that_run(), 1);
}

TEST(DamagedModel, EveryPrefixOfTheTokenizerIsRefusedOrHarmless) {
  Damage(ModelKind::classifier, "tokenizer.model").num_prefixes_that_run();
}

// A file without the key of its checksum counts as one that another program has written.
void expect_flips_refused_except_in_the_key_of_the_checksum(const Damage& damage) {
  constexpr std::string_view key = "heed.xxh3";
  const std::size_t begin = damage.whole().find(key);
  for (const std::size_t byte : damage.bytes_with_harmless_flips()) {
    EXPECT_TRUE(byte >= begin && byte < begin + key.size()) << "byte " << byte;
  }
}

TEST(DamagedModel, EveryFlippedBitOfTheWeightsOfATranslationModelIsRefused) {
  expect_flips_refused_except_in_the_key_of_the_checksum(
      Damage(ModelKind::translation, "model.safetensors"));
}

TEST(DamagedModel, EveryFlippedBitOfTheWeightsOfAClassifierIsRefused) {
  expect_flips_refused_except_in_the_key_of_the_checksum(
      Damage(ModelKind::classifier, "model.safetensors"));
}

TEST(DamagedModel, EveryFlippedBitOfOtherFilesIsRefusedOrHarmless) {
  for (const char* file : {"config.json", "generation_config.json", "tokenizer.model"}) {
    const Damage damage(ModelKind::translation, file);
    EXPECT_LT(damage.bytes_with_harmless_flips().size(), 8 * damage.whole().size()) << file;
  }
  const Damage damage(ModelKind::classifier, "config.json");
  EXPECT_LT(damage.bytes_with_harmless_flips().size(), 8 * damage.whole().size());
}

}  // namespace
}  // namespace heed
