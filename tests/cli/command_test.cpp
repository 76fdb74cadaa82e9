#include "heed/cli/command.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <new>
#include <stdexcept>

#include "heed/base/error.h"
#include "heed/base/version.h"
#include "heed/cli/classify_command.h"
#include "heed/cli/convert_command.h"
#include "heed/cli/corpus_command.h"
#include "heed/cli/demo_command.h"
#include "heed/cli/embed_command.h"
#include "heed/cli/evaluate_command.h"
#include "heed/cli/explore_command.h"
#include "heed/cli/fill_command.h"
#include "heed/cli/generate_command.h"
#include "heed/cli/inspect_command.h"
#include "heed/cli/score_command.h"
#include "heed/cli/train_command.h"
#include "heed/cli/translate_command.h"
#include "support/paths.h"
#include "support/temporary_folder.h"

namespace heed::cli {
namespace {

struct Outcome {
  int code;
  std::string out;
  std::string err;
};

Outcome run(const std::vector<Command>& commands, std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "heed");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code = run_program(static_cast<int>(arguments.size()), arguments.data(), commands);
  return {code, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

// A command that says how many, or does what `work` says.
Command count_command(std::function<int()> work = {}) {
  auto number = std::make_shared<int>(3);
  auto unit = std::make_shared<std::string>("words");
  Command command("count", "Say a number.\nAny number will do.", "heed count --number 4");
  command.option("--number", *number, "the number")->envname("HEED_TEST_NUMBER");
  command.option("--unit", *unit, "of what")->check(CLI::IsMember({"words", "lines"}));
  command.accept_config_file();
  command.run([=] {
    if (work) return work();
    std::cout << *number << ' ' << *unit << '\n';
    return 0;
  });
  return command;
}

Outcome run_work(std::function<int()> work) { return run({count_command(work)}, {"count"}); }

TEST(Command, RunsWithItsOptions) {
  const Outcome outcome = run({count_command()}, {"count", "--number", "7", "--unit=lines"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "7 lines\n");
  EXPECT_EQ(outcome.err, "");
}

TEST(Command, ReturnsTheExitCodeOfItsWork) {
  EXPECT_EQ(run_work([] { return 143; }).code, 143);
}

TEST(Command, HelpShowsOptionsWithDefaultsAndEndsWithTheExample) {
  const Outcome outcome = run({count_command()}, {"count", "--help"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.out.find("Usage: heed count"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("Any number will do."), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("(default: 3)"), std::string::npos) << outcome.out;
  EXPECT_TRUE(outcome.out.ends_with("Example: heed count --number 4\n")) << outcome.out;
}

TEST(Command, TheProgramsHelpListsTheCommands) {
  const Outcome outcome = run({count_command()}, {"--help"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.out.find("count       Say a number.\n\n"), std::string::npos) << outcome.out;
  EXPECT_TRUE(outcome.out.ends_with("Example: heed count --number 4\n")) << outcome.out;
}

// As from an unset variable: `heed train --model "$MODEL"`.
TEST(Command, AnEmptyNameIsNoFolder) {
  const std::vector<Command> commands{train_command(),    translate_command(), generate_command(),
                                      classify_command(), fill_command(),      embed_command(),
                                      score_command(),    evaluate_command(),  explore_command(),
                                      inspect_command(),  convert_command(),   corpus_command(),
                                      demo_command()};
  const std::map<std::string, std::vector<const char*>> folders{
      {"inspect", {""}},
      {"convert", {"model", ""}},
      {"corpus", {"--output", ""}},
      {"evaluate", {"--text", "t", "--model", ""}},
      {"demo", {"--dir", ""}}};
  for (const Command& command : commands) {
    const auto found = folders.find(command.name());
    std::vector<const char*> arguments{"--model", ""};
    if (found != folders.end()) arguments = found->second;
    arguments.insert(arguments.begin(), command.name().c_str());
    const Outcome outcome = run(commands, arguments);
    EXPECT_EQ(outcome.code, 2) << command.name();
    EXPECT_NE(outcome.err.find(": expected the name of a folder, found an empty one\n"),
              std::string::npos)
        << outcome.err;
  }
}

TEST(Command, TheVersionIsThatOfTheBuild) {
  EXPECT_EQ(run({}, {"--version"}).out, std::string("heed ") + version + "\n");
  std::ifstream build(std::string(golden_folder) + "/../../CMakeLists.txt");
  const std::string text(std::istreambuf_iterator<char>(build), {});
  EXPECT_NE(text.find(std::string("project(heed VERSION ") + version), std::string::npos);
}

TEST(Command, WrongUseIsOneLineAndExitCode2) {
  const std::vector<std::pair<std::vector<const char*>, std::string>> cases{
      {{}, "heed: expected a command: count (see heed --help)\n"},
      {{"cuont"}, "heed: expected a command: count; found cuont (see heed --help)\n"},
      {{"count", "--nubmer", "3"},
       "heed: count: expected its options and arguments, found --nubmer 3"
       " (see heed count --help)\n"},
      {{"count", "--number", "x"},
       "heed: count: Could not convert: --number = x (see heed count --help)\n"},
      {{"count", "--unit", "miles"},
       "heed: count: --unit: miles not in {words,lines} (see heed count --help)\n"},
  };
  for (const auto& [arguments, message] : cases) {
    const Outcome outcome = run({count_command()}, arguments);
    EXPECT_EQ(outcome.code, 2) << message;
    EXPECT_EQ(outcome.err, message);
    EXPECT_EQ(outcome.out, "");
  }
}

TEST(Command, ARequiredOptionThatIsMissingIsNamed) {
  std::string model;
  Command command("run", "Run.", "heed run --model m");
  command.option("--model", model, "model folder")->required();
  command.run([] { return 0; });
  const Outcome outcome = run({command}, {"run"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "heed: run: --model is required (see heed run --help)\n");
}

TEST(Command, EachKindOfErrorHasItsExitCodeAndOneLine) {
  const std::vector<std::pair<ErrorKind, int>> cases{{ErrorKind::failed, 1},
                                                     {ErrorKind::usage, 2},
                                                     {ErrorKind::data, 3},
                                                     {ErrorKind::model, 4},
                                                     {ErrorKind::diverged, 5}};
  for (const auto& [kind, code] : cases) {
    const Outcome outcome =
        run_work([kind = kind]() -> int { fail(kind, "a.txt: found\nnothing"); });
    EXPECT_EQ(outcome.code, code);
    EXPECT_EQ(outcome.err, "heed: a.txt: found nothing\n");
  }
}

TEST(Command, SettingsInMessagesBecomeTheOptionsOfTheCommand) {
  int max_length = 0;
  Command command("run", "Run.", "heed run --max-length 3");
  command.option("--max-length", max_length, "longest output");
  command.run([]() -> int {
    fail(ErrorKind::usage, "`max_length`: expected at least 1; `seed` and a lone ` stay");
  });
  EXPECT_EQ(run({command}, {"run"}).err,
            "heed: --max-length: expected at least 1; `seed` and a lone ` stay\n");
}

TEST(Command, OtherExceptionsAreFailures) {
  const Outcome memory = run_work([]() -> int { throw std::bad_alloc(); });
  EXPECT_EQ(memory.code, 1);
  EXPECT_EQ(memory.err, "heed: out of memory\n");
  const Outcome other = run_work([]() -> int { throw std::out_of_range("too far"); });
  EXPECT_EQ(other.code, 1);
  EXPECT_EQ(other.err, "heed: too far\n");
}

TEST(Command, OutputThatCannotBeWrittenIsAFailure) {
  const Outcome outcome = run_work([] {
    std::cout.setstate(std::ios::badbit);
    return 0;
  });
  std::cout.clear();
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err, "heed: standard output: cannot be written\n");
}

TEST(Command, TheCommandLineWinsOverTheEnvironmentOverTheConfigFile) {
  const TemporaryFolder folder;
  const std::string path = folder.write("count.conf", "number = 5\nunit = lines\n");
  EXPECT_EQ(run({count_command()}, {"count", "--config", path.c_str()}).out, "5 lines\n");
  ::setenv("HEED_TEST_NUMBER", "6", 1);
  EXPECT_EQ(run({count_command()}, {"count", "--config", path.c_str()}).out, "6 lines\n");
  EXPECT_EQ(run({count_command()}, {"count", "--number=7", "--config", path.c_str()}).out,
            "7 lines\n");
  ::unsetenv("HEED_TEST_NUMBER");
}

TEST(Command, AConfigFileWithAnUnknownOptionIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.write("count.conf", "nubmer = 5\n");
  const Outcome outcome = run({count_command()}, {"count", "--config", path.c_str()});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "heed: " + path + ": expected an option of heed count, found nubmer\n");
}

TEST(Command, AConfigFileThatIsMissingIsNamed) {
  const Outcome outcome = run({count_command()}, {"count", "--config", "/no/such/file"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("/no/such/file"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace heed::cli
