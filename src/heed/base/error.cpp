#include "heed/base/error.h"

#include "heed/base/printable.h"

namespace heed {

Error::Error(ErrorKind kind, const std::string& message)
    : std::runtime_error(excerpt(message, max_message_bytes)), kind_(kind) {}

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::failed:
      return 1;
    case ErrorKind::usage:
      return 2;
    case ErrorKind::data:
      return 3;
    case ErrorKind::model:
      return 4;
    case ErrorKind::diverged:
      return 5;
  }
  return 1;
}

}  // namespace heed
