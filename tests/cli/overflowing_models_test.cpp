// Models without finite answers: every command says so, with one exit code.
#include <gtest/gtest.h>

#include <iostream>
#include <sstream>

#include "cli/untrained_models.h"
#include "heed/cli/classify_command.h"
#include "heed/cli/embed_command.h"
#include "heed/cli/evaluate_command.h"
#include "heed/cli/fill_command.h"
#include "heed/cli/generate_command.h"
#include "heed/cli/score_command.h"
#include "heed/cli/translate_command.h"

namespace heed::cli {
namespace {

// Runs `heed ARGUMENTS` with this text on standard input; expects the exit code of a bad model, one
// line on standard error and nothing on standard output.
void expect_bad_model(std::vector<std::string> arguments, const std::string& input) {
  SCOPED_TRACE(testing::PrintToString(arguments));
  arguments.insert(arguments.begin(), "heed");
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  std::istringstream in(input);
  std::streambuf* const before = std::cin.rdbuf(in.rdbuf());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code =
      run_program(static_cast<int>(argv.size()), argv.data(),
                  {classify_command(), embed_command(), evaluate_command(), fill_command(),
                   generate_command(), score_command(), translate_command()});
  const std::string out = testing::internal::GetCapturedStdout();
  const std::string error = testing::internal::GetCapturedStderr();
  std::cin.rdbuf(before);
  std::cin.clear();
  EXPECT_EQ(code, 4);
  EXPECT_EQ(out, "");
  EXPECT_TRUE(error.starts_with("heed: model: expected finite logits") ||
              error.starts_with("heed: model: expected a finite log-probability") ||
              error.starts_with("heed: line 1: expected a finite vector"))
      << error;
  EXPECT_EQ(std::ranges::count(error, '\n'), 1) << error;
}

TEST(OverflowingModels, AreRefusedByEveryCommand) {
  const UntrainedModels models(Weights::overflowing);
  const std::string translation = models.translation(), language = models.language();
  const std::string line = "one bat\n";
  for (const std::string beam : {"1", "4"}) {
    expect_bad_model({"translate", "--model", translation, "--beam", beam}, line);
    expect_bad_model({"translate", "--model", translation, "--beam", beam, "--json"}, line);
  }
  expect_bad_model({"generate", "--model", language, "--prompt", "one"}, "");
  expect_bad_model({"generate", "--model", language, "--prompt", "one", "--temperature", "0"}, "");
  expect_bad_model({"classify", "--model", models.classifier()}, line);
  expect_bad_model({"classify", "--model", models.classifier(), "--json"}, line);
  expect_bad_model({"fill", "--model", models.masked()}, "one <mask>\n");
  for (const std::string& model : {translation, models.classifier(), models.masked()}) {
    expect_bad_model({"embed", "--model", model}, line);
  }
  expect_bad_model({"score", "--model", language}, line);
  expect_bad_model({"score", "--model", translation}, "one\ttwo\n");
}

TEST(OverflowingModels, AreRefusedByEvaluate) {
  const UntrainedModels models(Weights::overflowing);
  const std::string text = models.folder().write("text", "one bat\n");
  const std::string labelled = models.folder().write("labelled.tsv", "cold\tone bat\n");
  expect_bad_model({"evaluate", "--model", models.language(), "--text", text}, "");
  expect_bad_model({"evaluate", "--model", models.classifier(), "--labelled", labelled}, "");
  expect_bad_model(
      {"evaluate", "--model", models.translation(), "--source", text, "--target", text}, "");
}

}  // namespace
}  // namespace heed::cli
