#include "heed/cli/explore_command.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "heed/explore/page_files.h"
#include "support/http_client.h"
#include "support/paths.h"

namespace heed::cli {
namespace {

// The program as a process, and what it says on standard error.
class ExploreProgram {
 public:
  explicit ExploreProgram(const std::vector<std::string>& arguments) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
    std::vector<const char*> argv{program_path, "explore"};
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    argv.push_back(nullptr);
    child_ = ::fork();
    if (child_ == 0) {
      ::dup2(ends[1], STDERR_FILENO);
      ::execv(program_path, const_cast<char* const*>(argv.data()));
      ::_exit(127);
    }
    ::close(ends[1]);
    messages_ = ::fdopen(ends[0], "r");
  }
  ~ExploreProgram() {
    if (child_ > 0) end(SIGKILL);
    std::fclose(messages_);
  }
  ExploreProgram(const ExploreProgram&) = delete;
  ExploreProgram& operator=(const ExploreProgram&) = delete;

  std::string next_line() {
    std::string line;
    for (int c; (c = std::fgetc(messages_)) != EOF && c != '\n';) line += static_cast<char>(c);
    return line;
  }
  // The exit code, or minus the signal that it died of.
  int end(int signal) {
    ::kill(child_, signal);
    int status = 0;
    ::waitpid(std::exchange(child_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t child_;
  std::FILE* messages_;
};

class ExploreCommand : public testing::Test {
 protected:
  void SetUp() override {
    if (explore::page_files().is_empty()) GTEST_SKIP() << "built without the page";
  }
};

TEST_F(ExploreCommand, SaysTheAddressAndServesThePage) {
  ExploreProgram program({});
  const std::string line = program.next_line(), start = "heed explore: http://127.0.0.1:";
  ASSERT_TRUE(line.starts_with(start)) << line;
  const auto port = static_cast<std::uint16_t>(std::stoi(line.substr(start.size())));
  const Received welcome = exchange(port, {.target = line.substr(line.find("/?token="))});
  ASSERT_EQ(welcome.status, 303);
  const std::string cookie = welcome.headers.at("set-cookie");
  const Received page =
      exchange(port, {.headers = {{"Cookie", cookie.substr(0, cookie.find(';'))}}});
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.headers.at("content-type"), "text/html; charset=utf-8");
  EXPECT_NE(page.body.find("<html"), std::string::npos);
}

TEST_F(ExploreCommand, EndsCleanlyWhenInterrupted) {
  for (const int signal : {SIGINT, SIGTERM}) {
    ExploreProgram program({});
    ASSERT_FALSE(program.next_line().empty());
    EXPECT_EQ(program.end(signal), 128 + signal);
    EXPECT_EQ(program.next_line(), "") << "there is nothing more to say";
  }
}

TEST_F(ExploreCommand, GoesOnWithoutABrowser) {
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  ExploreProgram program({"--open"});
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_NE(program.next_line().find("http://"), std::string::npos);
  EXPECT_NE(program.next_line().find("open the address yourself"), std::string::npos);
  EXPECT_EQ(program.end(SIGINT), 128 + SIGINT);
}

TEST_F(ExploreCommand, RefusesWhatIsNoModelFolder) {
  ExploreProgram program({"--model", "/nowhere"});
  EXPECT_EQ(program.next_line(), "heed: /nowhere: expected a model folder, found nothing");
  EXPECT_EQ(program.end(0), 4);
}

TEST(ExploreOptions, APortIsANumberThatFits) {
  Command command = explore_command();
  EXPECT_THROW(command.app()->parse("--port 70000"), CLI::ParseError);
  EXPECT_THROW(command.app()->parse("--port -1"), CLI::ParseError);
  EXPECT_NO_THROW(command.app()->parse("--port 8080"));
}

}  // namespace
}  // namespace heed::cli
