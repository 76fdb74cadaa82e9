// Memory that what a file holds may be too large for.
#pragma once

#include <new>
#include <stdexcept>
#include <string_view>

#include "heed/base/error.h"

namespace heed::io {

// Runs work(). When there is no memory for it, throws Error(kind) "FILE: expected memory for 9 GB
// of images, found too little"; `what` gives the words after "memory for".
template <typename Work, typename What>
decltype(auto) require_memory(ErrorKind kind, std::string_view file, What&& what, Work&& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {  // more than any memory
  }
  fail(kind, file, ": expected memory for ", what(), ", found too little");
}

}  // namespace heed::io
