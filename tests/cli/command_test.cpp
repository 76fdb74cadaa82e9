#include "heed/cli/command.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <new>
#include <stdexcept>

#include "heed/base/error.h"
#include "heed/base/version.h"
#include "heed/cli/all_commands.h"
#include "heed/cli/arguments.h"
#include "heed/models/transformer_config.h"
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
  command.number("--number", *number, {-100, 100}, "the number")->envname("HEED_TEST_NUMBER");
  command.option("--unit", *unit, "of what")->check(is_one_of({"words", "lines"}));
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

TEST(Command, TakesAFormatOfWeights) {
  auto weights = std::make_shared<std::optional<WeightFormat>>();
  Command command("load", "Load a model.", "heed load --weights int8");
  command.accept_weights(*weights);
  command.run([weights] {
    std::cout << (*weights ? name_of(**weights) : "that of the folder") << '\n';
    return 0;
  });
  EXPECT_EQ(run({command}, {"load", "--weights", "int8"}).out, "int8\n");
  const Outcome refused = run({command}, {"load", "--weights", "int3"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("expected one of f32, f16, bf16, int8, int4, found int3"),
            std::string::npos)
      << refused.err;
}

TEST(Command, LoadsWeightsAsTheyAreWithoutAFormat) {
  auto weights = std::make_shared<std::optional<WeightFormat>>();
  Command command("load", "Load a model.", "heed load --weights int8");
  command.accept_weights(*weights);
  command.run([weights] { return weights->has_value() ? 1 : 0; });
  EXPECT_EQ(run({command}, {"load"}).code, 0);
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
  const std::vector<Command> commands = all_commands();
  const std::map<std::string, std::vector<const char*>> folders{
      {"attend", {"words.csv", "--query", ""}},
      {"inspect", {""}},
      {"convert", {"model", ""}},
      {"corpus", {"--output", ""}},
      {"evaluate", {"--text", "t", "--model", ""}},
      {"demo", {"--dir", ""}}};
  for (const Command& command : commands) {
    if (command.name() == "presets") continue;  // which has no folder
    const auto found = folders.find(command.name());
    std::vector<const char*> arguments{"--model", ""};
    if (found != folders.end()) arguments = found->second;
    arguments.insert(arguments.begin(), command.name().c_str());
    const Outcome outcome = run(commands, arguments);
    EXPECT_EQ(outcome.code, 2) << command.name();
    EXPECT_NE(outcome.err.find(": expected the name of a "), std::string::npos) << outcome.err;
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
      {{}, "expected a command: count (see heed --help)"},
      {{"cuont"}, "unknown command cuont; did you mean count? (see heed --help)"},
      {{"fly"}, "unknown command fly; expected count (see heed --help)"},
      {{"count", "--nubmer", "3"},
       "unknown option --nubmer; did you mean --number? (see heed count --help)"},
      {{"count", "--num=3"},
       "unknown option --num; did you mean --number? (see heed count --help)"},
      {{"count", "--colour", "red"}, "unknown option --colour (see heed count --help)"},
      {{"count", "-x"}, "unknown option -x (see heed count --help)"},
      {{"count", "three"}, "unexpected argument 'three' (see heed count --help)"},
      {{"count", "--unit", "words", "lines"},
       "unexpected argument 'lines' after --unit words (see heed count --help)"},
      {{"count", "--number", "x"},
       "--number: expected a whole number from -100 to 100, found x (see heed count --help)"},
      {{"count", "--number"}, "--number: expected a value, found nothing (see heed count --help)"},
      {{"count", "--number", "--unit", "lines"},
       "--number: expected a value, found the option --unit (see heed count --help)"},
      {{"count", "--number", "1", "--number=2"},
       "--number: expected once, found again (see heed count --help)"},
      {{"count", "--unit", "miles"},
       "--unit: expected one of words, lines, found miles (see heed count --help)"},
      {{"count", "--config", "/no/such/file"},
       "--config: expected a file, found /no/such/file (see heed count --help)"},
  };
  for (const auto& [arguments, message] : cases) {
    const Outcome outcome = run({count_command()}, arguments);
    EXPECT_EQ(outcome.code, 2) << message;
    EXPECT_EQ(outcome.err, "heed: " + message + '\n');
    EXPECT_EQ(outcome.out, "");
  }
}

// All that one can get wrong in each option of each command.
std::vector<std::pair<std::string, std::vector<std::string>>> wrong_uses(
    const CLI::Option& option) {
  const std::string name = "--" + option.get_lnames().front();
  std::string misspelt = name;
  misspelt.insert(misspelt.size() - 1, "q");
  const bool is_letter = name.size() == 3;  // which no other is near to
  std::vector<std::pair<std::string, std::vector<std::string>>> uses{
      {"unknown option " + misspelt + (is_letter ? "" : "; did you mean --"), {misspelt}}};
  if (option.get_items_expected_max() == 0) {
    uses.push_back({name + ": expected no value, or true or false, found 7", {name + "=7"}});
    return uses;
  }
  uses.push_back({name + ": expected a value, found nothing", {name}});
  uses.push_back({name + ": expected a value, found the option " + name, {name, name}});
  if (option.get_type_name().starts_with("INT") || option.get_type_name().starts_with("FLOAT") ||
      option.get_type_name().starts_with("UINT")) {
    uses.push_back({option.get_name() + ": expected a ", {name, "many"}});
  }
  return uses;
}

TEST(Command, EveryOptionOfEveryCommandIsRefusedInOurWords) {
  const std::vector<std::string> words_of_the_parser{"Could not",       "required at least",
                                                     "not in range",    "expected its",
                                                     "is required but", "Value "};
  int num_uses = 0;
  for (const Command& command : all_commands()) {
    for (const std::string& name : option_names(*command.app())) {
      if (name == "--help") continue;
      const CLI::Option& option = *command.app()->get_option(name);
      for (const auto& [message, use] : wrong_uses(option)) {
        std::vector<const char*> arguments{command.name().c_str()};
        for (const std::string& argument : use) arguments.push_back(argument.c_str());
        const Outcome outcome = run(all_commands(), arguments);
        EXPECT_EQ(outcome.code, 2) << command.name() << ' ' << name;
        EXPECT_TRUE(outcome.err.starts_with("heed: " + message)) << outcome.err << message;
        EXPECT_TRUE(outcome.err.ends_with(" (see heed " + command.name() + " --help)\n"));
        for (const std::string& word : words_of_the_parser) {
          EXPECT_EQ(outcome.err.find(word), std::string::npos) << outcome.err;
        }
        ++num_uses;
      }
    }
  }
  EXPECT_GT(num_uses, 300);
}

TEST(Command, OptionsThatAreMissingOrDoNotGoTogetherAreNamed) {
  const std::vector<std::pair<std::vector<const char*>, std::string>> cases{
      {{"attend"}, "WORDS is required (see heed attend --help)"},
      {{"convert", "m"}, "OUTPUT is required (see heed convert --help)"},
      {{"translate"}, "--model is required (see heed translate --help)"},
      {{"attend", "w.csv", "--only", "bat", "cave"},
       "unexpected argument 'cave' after --only bat (see heed attend --help)"},
      {{"attend", "w.csv", "--sim", "cosine"},
       "unknown option --sim; did you mean --similarity? (see heed attend --help)"},
      {{"translate", "--model", "m", "--beam", "0"},
       "--beam: expected a whole number from 1 to 1000, found 0 (see heed translate --help)"},
      {{"train", "--model", "m", "--resume", "--overwrite"},
       "--resume: cannot be combined with --overwrite (see heed train --help)"},
      {{"evaluate", "--model", "m", "--source", "s"},
       "--source: expected --target too (see heed evaluate --help)"},
      {{"evaluate"},
       "expected one of --reference, --source, --pairs, --contrastive, --text, --prompts, "
       "--labelled, --tagged, --images (see heed evaluate --help)"},
  };
  for (const auto& [arguments, message] : cases) {
    EXPECT_EQ(run(all_commands(), arguments).err, "heed: " + message + '\n');
  }
}

TEST(Command, ARequiredOptionThatIsMissingIsNamed) {
  std::string model;
  Command command("run", "Run.", "heed run --model m");
  command.option("--model", model, "model folder")->required();
  command.run([] { return 0; });
  const Outcome outcome = run({command}, {"run"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "heed: --model is required (see heed run --help)\n");
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
    EXPECT_EQ(outcome.err, "heed: a.txt: found\\nnothing\n");
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

// Standard output that cannot be written, for the length of a test.
class FullDisk : public std::streambuf {
 public:
  FullDisk() : before_(std::cout.rdbuf(this)) {}
  ~FullDisk() override { std::cout.rdbuf(before_); }

 private:
  int_type overflow(int_type) override { return traits_type::eof(); }
  int sync() override { return -1; }

  std::streambuf* before_;
};

TEST(Command, HelpAndVersionThatCannotBeWrittenAreFailures) {
  for (const std::vector<const char*>& arguments : {std::vector<const char*>{"heed", "--help"},
                                                    {"heed", "--version"},
                                                    {"heed", "count", "-h"}}) {
    const FullDisk full;
    testing::internal::CaptureStderr();
    EXPECT_EQ(run_program(static_cast<int>(arguments.size()), arguments.data(), {count_command()}),
              1);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "heed: standard output: cannot be written\n");
  }
}

TEST(Command, WorkEndsAtTheFirstWriteThatFails) {
  int num_written = 0;
  const Command command = count_command([&] {
    while (++num_written < 100) std::cout << num_written << std::endl;
    return 0;
  });
  const FullDisk full;
  const char* arguments[] = {"heed", "count"};
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_program(2, arguments, {command}), 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "heed: standard output: cannot be written\n");
  EXPECT_EQ(num_written, 1);
}

TEST(Command, AStreamOfAFileThatFailsIsNotTakenForStandardOutput) {
  const Outcome outcome =
      run_work([]() -> int { throw std::ios_base::failure("the file is damaged"); });
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("the file is damaged"), std::string::npos) << outcome.err;
}

TEST(Command, NumbersOutOfRangeAreRefusedInOneShortLine) {
  const auto error = [](const std::string& option, const std::string& value) {
    Index whole = 1;
    std::optional<double> real;
    std::uint64_t seed = 1;
    Command command("run", "Run.", "heed run");
    command.number("--beam,--beam-size", whole, {1, 1000}, "whole");
    command.number("--penalty", real, {-10, 10}, "real");
    command.number("--seed", seed, {0, std::numeric_limits<std::uint64_t>::max()}, "seed");
    command.accept_threads();
    command.run([] { return 0; });
    const std::string argument = option + '=' + value;
    const Outcome outcome = run({command}, {"run", argument.c_str()});
    EXPECT_EQ(outcome.code, outcome.err.empty() ? 0 : 2);
    return outcome.err;
  };
  const auto refused = [](const std::string& message) {
    return "heed: " + message + " (see heed run --help)\n";
  };
  const std::string threads = "--threads: expected a whole number from 1 to 1024, found ";
  for (const std::string value : {"0", "1025", "-1", "x", "2.5", "1e3", "99999999999999999999"}) {
    EXPECT_EQ(error("--threads", value), refused(threads + value));
  }
  EXPECT_EQ(error("--threads", "1"), "");
  EXPECT_EQ(error("--beam", "1001"),
            refused("--beam: expected a whole number from 1 to 1000, found 1001"));
  EXPECT_EQ(error("--beam-size", "1000"), "");
  for (const std::string value : {"nan", "inf", "-inf", "1e400", "10.5", "a"}) {
    EXPECT_EQ(error("--penalty", value),
              refused("--penalty: expected a number from -10 to 10, found " + value));
  }
  EXPECT_EQ(error("--penalty", "-0.5"), "");
  for (const std::string value : {"-1", "18446744073709551616", "x"}) {
    EXPECT_EQ(
        error("--seed", value),
        refused("--seed: expected a whole number from 0 to 18446744073709551615, found " + value));
  }
  EXPECT_EQ(error("--seed", "18446744073709551615"), "");
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
  EXPECT_EQ(
      outcome.err,
      "heed: " + path + ": unknown option nubmer; did you mean number? (see heed count --help)\n");
}

TEST(Command, AConfigFileThatIsMissingIsNamed) {
  const Outcome outcome = run({count_command()}, {"count", "--config", "/no/such/file"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("/no/such/file"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace heed::cli
