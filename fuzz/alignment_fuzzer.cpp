// Any bytes as a file of word alignments.
#include "harness.h"
#include "heed/metrics/word_alignment.h"
#include "heed/text/lines.h"
#include "heed/train/word_links.h"

using namespace heed;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::test(ErrorKind::data, data, size, [](std::string_view input) {
    const std::string path = fuzz::folder().write("links", input);
    const auto lines = text::read_lines(path);
    for (const auto& links : train::read_word_links(path, lines.size())) {
      fuzz::require(metrics::parse_pharaoh(metrics::to_pharaoh(links), "again") == links,
                    "the same links from what is written");
    }
    for (const std::string& line : lines) metrics::parse_reference_alignment(line, "line");
  });
}
