#include "heed/cli/demo_command.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <regex.h>

#include <fstream>
#include <sstream>

#include "heed/base/error.h"
#include "heed/io/files.h"
#include "support/temporary_folder.h"

namespace heed::cli {
namespace {

// The whole path in a second: few pairs, a narrow model, no time to learn.
DemoOptions quick_demo(const std::string& folder) {
  DemoOptions options;
  options.folder = folder;
  options.corpus.pairs = 200;
  options.corpus.valid_pairs = 10;
  options.corpus.test_pairs = 20;
  options.settings = {{"width", "16"},         {"feed-forward", "16"},  {"heads", "2"},
                      {"encoder-layers", "2"}, {"decoder-layers", "1"}, {"vocabulary", "300"},
                      {"after", "3u"}};
  return options;
}

bool has_line(const std::string& text, const std::string& pattern) {
  regex_t regex;
  EXPECT_EQ(::regcomp(&regex, ("^" + pattern + "$").c_str(), REG_EXTENDED | REG_NEWLINE), 0);
  const bool is_found = ::regexec(&regex, text.c_str(), 0, nullptr, 0) == 0;
  ::regfree(&regex);
  return is_found;
}

TEST(Demo, PrintsSamplesFiguresAttentionAndWhatToDoNext) {
  const TemporaryFolder folder;
  const std::string path = folder.file("demo");
  std::ostringstream out, log;
  ASSERT_EQ(demo(quick_demo(path), {.quiet = true}, out, log), 0) << log.str();
  const std::string text = out.str();
  EXPECT_TRUE(has_line(text, "BLEU [0-9]+\\.[0-9]")) << text;
  EXPECT_TRUE(has_line(text, "pronouns [0-9]+\\.[0-9]%")) << text;
  EXPECT_TRUE(has_line(text, "senses [0-9]+\\.[0-9]%")) << text;
  EXPECT_TRUE(has_line(text, "It knows [0-9]+ nouns and [0-9]+ verbs in .* such as these:"))
      << text;
  EXPECT_TRUE(has_line(text, "    does not know: elephant")) << text;
  EXPECT_TRUE(has_line(text, "  On 4 others its .* [0-9.]+%; chance is 50%, one of two nouns."))
      << text;
  EXPECT_TRUE(has_line(text, "  (er|sie|es)( +[01]\\.[0-9][0-9]){6,}")) << text;
  const std::string program = program_invocation_name;
  EXPECT_TRUE(has_line(text, "  " + program + " translate --model " + path + "/model")) << text;
  EXPECT_TRUE(io::is_file(path + "/corpus/train.en"));
  EXPECT_TRUE(io::is_file(path + "/model/training/checkpoints/weights-0.safetensors"));

  std::ostringstream again;
  ASSERT_EQ(demo(quick_demo(path), {.quiet = true}, again, log), 0);
  EXPECT_EQ(again.str(), text);
}

TEST(Demo, RefusesAFolderOfSomebodyElse) {
  const TemporaryFolder folder;
  std::ofstream(folder.file("thesis.txt")) << "precious";
  std::ostringstream out, log;
  EXPECT_THROW(demo(quick_demo(folder.path()), {.quiet = true}, out, log), Error);
  EXPECT_EQ(folder.num_files(), 1u);
}

}  // namespace
}  // namespace heed::cli
