#include "heed/cli/explore_command.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "heed/explore/page_files.h"
#include "heed/io/files.h"
#include "support/http_client.h"
#include "support/paths.h"
#include "support/temporary_folder.h"

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

// The programs of this process find these folders.
class Path {
 public:
  explicit Path(const std::string& folders) : before_(std::getenv("PATH")) { set(folders); }
  ~Path() { set(before_); }
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;

 private:
  static void set(const std::string& folders) { ::setenv("PATH", folders.c_str(), 1); }
  std::string before_;
};

mode_t permissions(const std::filesystem::path& path) {
  struct stat info {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 0777;
}

// Everybody on the machine can read command lines.
TEST_F(ExploreCommand, OpensTheBrowserWithoutTheTokenOnItsCommandLine) {
  const TemporaryFolder folder;
  const std::string seen = folder.file("seen");
  const std::string opener = folder.write("xdg-open", "#!/bin/sh\nprintf '%s\\n' \"$@\" > " + seen +
                                                          ".new\nmv " + seen + ".new " + seen);
  ASSERT_EQ(::chmod(opener.c_str(), 0755), 0);
  const Path path(folder.path() + ':' + std::getenv("PATH"));
  ExploreProgram program({"--open"});
  const std::string line = program.next_line();
  const std::string address = line.substr(line.find("http://"));
  for (int i = 0; i < 1000 && !io::is_file(seen); ++i) ::usleep(10'000);
  const std::string command_line = io::read_file(seen);
  EXPECT_EQ(command_line.find("token"), std::string::npos) << command_line;

  const std::filesystem::path page = command_line.substr(0, command_line.find('\n'));
  EXPECT_NE(io::read_file(page).find("url=" + address + '"'), std::string::npos);
  EXPECT_EQ(permissions(page), 0600u);
  EXPECT_EQ(permissions(page.parent_path()), 0700u);
  EXPECT_EQ(program.end(SIGTERM), 128 + SIGTERM);
  EXPECT_FALSE(std::filesystem::exists(page.parent_path()));
}

TEST_F(ExploreCommand, GoesOnWithoutABrowser) {
  const Path path("/nowhere");
  ExploreProgram program({"--open"});
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
