#include "heed/base/error.h"

namespace heed {

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
