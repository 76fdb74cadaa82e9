// What all harnesses share: heed::Error of one kind is the expected outcome of a bad input, and
// everything else is a finding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "support/temporary_folder.h"

namespace heed::fuzz {

// Ends the process, so that libFuzzer keeps the input.
inline void require(bool ok, std::string_view what) {
  if (ok) return;
  std::fprintf(stderr, "expected %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

// The body of LLVMFuzzerTestOneInput: calls work(input), which may refuse it with this kind of
// error.
template <typename Work>
int test(ErrorKind refusal, const std::uint8_t* data, std::size_t size, Work&& work) {
  set_num_threads(1);  // inputs are too small for more
  try {
    work(std::string_view(reinterpret_cast<const char*>(data), size));
  } catch (const Error& error) {
    require(error.kind() == refusal, std::string("another kind of error than: ") + error.what());
  }
  return 0;
}

// The body of LLVMFuzzerInitialize, which libFuzzer calls before it starts threads, for harnesses
// that train a tokenizer. That is done in a child process, and a fork may copy the allocator of the
// address sanitizer while another thread holds its locks.
template <typename Work>
int prepare(Work&& work) {
  set_num_threads(1);
  work();
  return 0;
}

// The first byte of an input, a choice among several, and the rest.
inline std::pair<unsigned char, std::string_view> split_choice(std::string_view input) {
  if (input.empty()) return {0, input};
  return {static_cast<unsigned char>(input.front()), input.substr(1)};
}

// The input up to the first separator, and what follows it.
inline std::pair<std::string_view, std::string_view> split_at(std::string_view input,
                                                              char separator) {
  const std::size_t end = input.find(separator);
  if (end == std::string_view::npos) return {input, {}};
  return {input.substr(0, end), input.substr(end + 1)};
}

// A folder for the files of one process.
inline const TemporaryFolder& folder() {
  static const TemporaryFolder folder;
  return folder;
}

}  // namespace heed::fuzz
