// Any bytes as tokenizer.model, after the length of a text in one byte and that text, which is
// encoded with it.
#include "harness.h"
#include "heed/base/utf8.h"
#include "heed/text/text_stream.h"
#include "heed/text/tokenizer.h"

using namespace heed;

namespace {

// Everything that Heed asks of a tokenizer.
void use(const text::Tokenizer& tokenizer, const std::string& line) {
  tokenizer.subwords();
  tokenizer.mask();
  text::TextStream stream(tokenizer);
  std::string streamed;
  for (int id = 0; id < tokenizer.size(); ++id) streamed += tokenizer.piece(id) + stream.add(id);
  streamed += stream.finish();
  for (const int id : tokenizer.encode(line)) {
    fuzz::require(id >= 0 && id < tokenizer.size(), "ids of the vocabulary");
  }
  tokenizer.decode(tokenizer.encode(line));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::test(ErrorKind::model, data, size, [](std::string_view input) {
    const auto [length, rest] = fuzz::split_choice(input);
    const std::string line(rest.substr(0, length));
    if (!is_valid_utf8(line)) return;  // refused long before
    use(text::Tokenizer::from_bytes(rest.substr(line.size())), line);
  });
}
