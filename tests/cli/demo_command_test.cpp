#include "heed/cli/demo_command.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <regex.h>

#include <cstdio>
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

// What a person types, line by line.
std::function<std::optional<std::string>()> typed(std::vector<std::string> sentences) {
  return [sentences, next = std::size_t{0}]() mutable -> std::optional<std::string> {
    if (next == sentences.size()) return std::nullopt;
    return sentences[next++];
  };
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
  EXPECT_TRUE(has_line(
      text, "  On 4 others its .* [0-9.]+%; chance, one of the sentence's words, is [0-9.]+%."))
      << text;
  const std::string program = program_invocation_name;
  EXPECT_TRUE(has_line(text, "  " + program + " translate --model " + path + "/model")) << text;
  EXPECT_TRUE(io::is_file(path + "/corpus/train.en"));
  EXPECT_TRUE(io::is_file(path + "/model/training/checkpoints/weights-0.safetensors"));

  std::ostringstream again;
  ASSERT_EQ(demo(quick_demo(path), {.quiet = true}, again, log), 0);
  EXPECT_EQ(again.str(), text);
}

TEST(Demo, TranslatesWhatIsTypedAndNamesTheWordsItDoesNotKnow) {
  const TemporaryFolder folder;
  DemoOptions options = quick_demo(folder.file("demo"));
  std::string long_line;
  for (int i = 0; i < 40'000; ++i) long_line += "cat ";
  options.next_sentence = typed({"The zebra and the unicorn.", long_line, "Zzz"});
  std::ostringstream out, log;
  ASSERT_EQ(demo(options, {.quiet = true}, out, log), 0) << log.str();
  EXPECT_TRUE(has_line(out.str(), "    does not know: zebra, unicorn")) << out.str();
  EXPECT_TRUE(has_line(out.str(), "    does not know: Zzz")) << out.str();
  EXPECT_NE(log.str().find("heed: "), std::string::npos);  // the line that is too long
}

// The real demo: minutes.
TEST(Demo, TranslatesWhatNewcomersType) {
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"The cat sleeps.", "Die Katze schläft."},
      {"The bat sleeps in the cave.", "Die Fledermaus schläft in der Höhle."},
      {"The bat flew out of the cave.", "Die Fledermaus flog aus der Höhle."},
      {"The old bat is broken.", "Der alte Schläger ist kaputt."},
      {"The dog ran into the house.", "Der Hund lief ins Haus."},
      {"The cat sat on the mat.", "Die Katze saß auf der Matte."},
      {"The cat did not cross the street because it was tired.",
       "Die Katze überquerte die Straße nicht, weil sie müde war."},
      {"The animal didn't cross the street because it was too tired.",
       "Das Tier überquerte die Straße nicht, weil es zu müde war."},
      {"The animal didn't cross the street because it was too wide.",
       "Das Tier überquerte die Straße nicht, weil sie zu breit war."},
      {"Where is the cat?", "Wo ist die Katze?"},
  };
  const TemporaryFolder folder;
  DemoOptions options;
  options.folder = folder.file("demo");
  std::vector<std::string> sentences;
  for (const auto& [english, german] : pairs) sentences.push_back(english);
  options.next_sentence = typed(sentences);
  std::ostringstream out, log;
  ASSERT_EQ(demo(options, {.quiet = true}, out, log), 0) << log.str();
  const std::string answers = out.str().substr(out.str().find("Type English sentences"));
  for (const auto& [english, german] : pairs) {
    EXPECT_NE(answers.find("    " + german + '\n'), std::string::npos) << english << answers;
  }
  EXPECT_EQ(answers.find("does not know"), std::string::npos) << answers;
  double share = 0;
  const std::size_t at = out.str().find("on the right noun in ");
  ASSERT_EQ(std::sscanf(out.str().c_str() + at, "on the right noun in %lf%%", &share), 1);
  EXPECT_GT(share, 30) << out.str();  // chance is about 8
  EXPECT_TRUE(has_line(out.str(), "  (er|sie|es)( +[01]\\.[0-9][0-9]){6,}")) << out.str();
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
