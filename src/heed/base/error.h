// Errors: one exception type that says whose mistake it was, and `check`, which throws it.
#pragma once

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
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

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
