// heed train --from, with a folder of Hugging Face's.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heed/cli/convert_command.h"
#include "heed/cli/train_command.h"
#include "heed/models/model_folder.h"
#include "heed/models/peft_adapter.h"
#include "train/other_families.h"

namespace heed::cli {
namespace {

struct Outcome {
  int code;
  std::string out, err;
};

Outcome run(std::vector<std::string> arguments) {
  std::vector<const char*> argv{"heed"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code =
      run_program(static_cast<int>(argv.size()), argv.data(), {train_command(), convert_command()});
  return {code, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

class FineTuningCommand : public testing::Test {
 protected:
  Outcome train(const std::string& base, const std::string& model,
                const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"train",
                                       "--source",
                                       families.file("train.en"),
                                       "--target",
                                       families.file("train.de"),
                                       "--from",
                                       base,
                                       "--model",
                                       families.file(model),
                                       "--max-updates",
                                       "3"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }

  train::OtherFamilies families;
};

TEST_F(FineTuningCommand, SaysHowTheModelIsTrained) {
  const std::string base = families.marian();
  const Outcome full = train(base, "full");
  EXPECT_EQ(full.code, 0) << full.err;
  for (const char* part : {"learning rate 0.0002", "dropout 0.1", "examples of at most 256 tokens",
                           "of the marian family's layout"}) {
    EXPECT_NE(full.err.find(part), std::string::npos) << part << " in " << full.err;
  }
  EXPECT_EQ(models::load_config(families.file("full")).family, "marian");
  const Outcome adapter = train(base, "adapter", {"--lora", "2", "--learning-rate", "0.01"});
  EXPECT_EQ(adapter.code, 0) << adapter.err;
  EXPECT_NE(adapter.err.find("learning rate 0.01, "), std::string::npos) << adapter.err;
  EXPECT_NE(adapter.err.find("LoRA of rank 2"), std::string::npos) << adapter.err;

  const Outcome merged = run({"convert", base, families.file("merged"), "--adapter",
                              models::peft_folder(families.file("adapter"))});
  EXPECT_EQ(merged.code, 0) << merged.err;
  EXPECT_EQ(models::weights_hash(models::load_parameters(families.file("merged"))),
            models::weights_hash(models::load_parameters(families.file("adapter"))));
  // The same command again finds nothing left to do.
  EXPECT_NE(train(base, "full").err.find("finished after update 3"), std::string::npos);
}

TEST_F(FineTuningCommand, RefusesAnotherNetworkThanThatOfTheBaseModel) {
  const std::string base = families.marian();
  const Outcome wide = train(base, "wide", {"--width", "64"});
  EXPECT_EQ(wide.code, 2);
  EXPECT_NE(wide.err.find("--width: expected 16 as in --from"), std::string::npos) << wide.err;
  const Outcome pieces = train(base, "pieces", {"--vocabulary", "500"});
  EXPECT_EQ(pieces.code, 2);
  EXPECT_NE(pieces.err.find("--vocabulary: cannot be combined with --from"), std::string::npos)
      << pieces.err;
}

}  // namespace
}  // namespace heed::cli
