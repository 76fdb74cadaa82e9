// Errors: one exception type that says whose mistake it was, and `check`, which throws it.
#pragma once

#include <cstddef>
#include <sstream>
#include <stdexcept>
#include <string>

namespace heed {

// The kinds decide the exit code of the program (see exit_code).
enum class ErrorKind { failed, usage, data, model, diverged };

// A message names a setting by its field's name in backticks, `max_length`; the program shows the
// option that sets it, --max-length.
class Error : public std::runtime_error {
 public:
  // A message may hold text of a file or of a user. It becomes one line of UTF-8 without control
  // characters, and what is longer than max_message_bytes loses its middle: the file's name stands
  // at its beginning, the reason at its end.
  Error(ErrorKind kind, const std::string& message);
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

inline constexpr std::size_t max_message_bytes = 280;

// 1 failed, 2 wrong use, 3 bad data, 4 bad model, 5 diverged.
int exit_code(ErrorKind kind);

template <typename... Parts>
[[noreturn]] void fail(ErrorKind kind, const Parts&... parts) {
  std::ostringstream message;
  (message << ... << parts);
  throw Error(kind, message.str());
}

// check(ok, "matmul: inner sizes differ, ", a.shape(), " x ", b.shape());
template <typename... Parts>
void check(bool ok, const Parts&... parts) {
  if (!ok) [[unlikely]]
    fail(ErrorKind::failed, parts...);
}

// The same for mistakes with an exit code of their own: bad data, bad model, wrong use.
template <typename... Parts>
void check_as(ErrorKind kind, bool ok, const Parts&... parts) {
  if (!ok) [[unlikely]]
    fail(kind, parts...);
}

}  // namespace heed
