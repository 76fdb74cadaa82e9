// Any bytes as a text file, compressed by gzip or zstd, or not.
#include "harness.h"
#include "heed/base/utf8.h"
#include "heed/text/lines.h"
#include "heed/text/words.h"

using namespace heed;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::test(ErrorKind::data, data, size, [](std::string_view input) {
    for (const std::string& line : text::read_lines(fuzz::folder().write("text.gz", input))) {
      fuzz::require(is_valid_utf8(line), "lines in UTF-8");
      fuzz::require(line.find('\n') == std::string::npos, "lines without line ends");
    }
  });
}
