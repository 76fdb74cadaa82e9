#include "heed/base/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <optional>

#include "heed/base/cancellation.h"
#include "heed/base/error.h"

namespace heed {
namespace {

constexpr int milliseconds_between_checks = 50;

// What the child sends: this, then `size` bytes of a result or of an error's message.
struct Header {
  bool is_error = false;
  ErrorKind kind = ErrorKind::failed;
  std::uint64_t size = 0;
};

struct Answer {
  bool is_error = false;
  ErrorKind kind = ErrorKind::failed;
  std::string bytes;
};

std::string reason(int error) { return std::strerror(error); }

// --- The child ---

Answer answer_of(const std::function<std::string()>& work) {
  try {
    return {.bytes = work()};
  } catch (const Error& error) {
    return {true, error.kind(), error.what()};
  } catch (const std::bad_alloc&) {
    return {true, ErrorKind::failed, "out of memory"};
  } catch (const std::exception& error) {
    return {true, ErrorKind::failed, error.what()};
  }
}

void send(int pipe, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(pipe, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) ::_exit(1);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void send(int pipe, const Answer& answer) {
  const Header header{answer.is_error, answer.kind, answer.bytes.size()};
  std::array<char, sizeof header> bytes;
  std::memcpy(bytes.data(), &header, sizeof header);
  send(pipe, std::string_view(bytes.data(), bytes.size()));
  send(pipe, answer.bytes);
}

[[noreturn]] void run_child(const std::function<std::string()>& work, int pipe, pid_t parent) {
  // It dies with its parent, also if that is dead already, and of every signal.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
  // What code prints before it gives up is not for the user of a library.
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) ::dup2(nowhere, STDERR_FILENO);
  // The exit handlers and buffers are the parent's; code that calls exit() shall not run them.
  std::atexit([] { ::_exit(1); });
  send(pipe, answer_of(work));
  ::_exit(0);
}

// --- The parent ---

// Kills the child and waits for its end, unless that was done.
class Child {
 public:
  explicit Child(const std::function<std::string()>& work) {
    std::array<int, 2> ends;
    const int made = ::pipe2(ends.data(), O_CLOEXEC);
    check(made == 0, "child process: cannot be started: ", reason(errno));
    const pid_t parent = ::getpid();
    process_ = ::fork();
    const int error = errno;
    if (process_ == 0) run_child(work, ends[1], parent);
    ::close(ends[1]);
    pipe_ = ends[0];
    if (process_ < 0) ::close(pipe_);
    check(process_ > 0, "child process: cannot be started: ", reason(error));
  }
  ~Child() {
    ::close(pipe_);
    if (process_ < 0) return;
    ::kill(process_, SIGKILL);
    wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Everything that it sends.
  std::string receive() {
    std::string bytes;
    std::array<char, 1 << 16> chunk;
    for (;;) {
      check_cancelled();
      pollfd ready{pipe_, POLLIN, 0};
      if (::poll(&ready, 1, milliseconds_between_checks) <= 0) continue;
      const ssize_t count = ::read(pipe_, chunk.data(), chunk.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return bytes;
      bytes.append(chunk.data(), static_cast<std::size_t>(count));
    }
  }

  // How it ended: "exit code 1", "signal 6 (Aborted)".
  std::string wait() {
    int status = 0;
    pid_t ended = 0;
    do {
      ended = ::waitpid(process_, &status, 0);
    } while (ended < 0 && errno == EINTR);
    process_ = -1;
    if (ended < 0) return "nothing known about it";  // the host process ignores SIGCHLD
    if (WIFEXITED(status)) return "exit code " + std::to_string(WEXITSTATUS(status));
    const int signal = WTERMSIG(status);
    return "signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
  }

 private:
  pid_t process_ = -1;
  int pipe_ = -1;
};

std::optional<Answer> parse_answer(const std::string& bytes) {
  Header header;
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (bytes.size() - sizeof header != header.size) return std::nullopt;
  return Answer{header.is_error, header.kind, bytes.substr(sizeof header)};
}

}  // namespace

std::string run_in_child(const std::function<std::string()>& work) {
  Child child(work);
  std::optional<Answer> answer = parse_answer(child.receive());
  const std::string end = child.wait();
  // Ctrl-C reaches both processes, and the child may be the first to die of it.
  if (!answer) check_cancelled();
  check(answer.has_value(), "child process: expected a result, found ", end);
  if (answer->is_error) throw Error(answer->kind, answer->bytes);
  return std::move(answer->bytes);
}

}  // namespace heed
