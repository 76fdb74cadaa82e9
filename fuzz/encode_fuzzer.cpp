// Any text, encoded with a tokenizer of each kind. Streamed text equals decoded text, bytes come
// back as they were, and BPE-dropout of rate 0 changes nothing.
#include "harness.h"
#include "heed/base/utf8.h"
#include "heed/text/bpe_dropout.h"
#include "heed/text/text_stream.h"
#include "heed/text/tokenizer.h"
#include "heed/text/words.h"

using namespace heed;

namespace {

using text::Subwords, text::Tokenizer;

const std::vector<Tokenizer>& tokenizers() {
  static const std::vector<Tokenizer> all = [] {
    const std::vector<std::string> lines{"the bat sleeps in the cave", "the bat hits the ball",
                                         "a racket lies beside the bat", "die Höhle ist dunkel"};
    std::vector<Tokenizer> tokenizers;
    for (const Choice<Subwords>& subwords : choices<Subwords>()) {
      tokenizers.push_back(Tokenizer::train(lines, {.vocabulary = 32, .subwords = subwords.value}));
    }
    return tokenizers;
  }();
  return all;
}

std::string streamed(const Tokenizer& tokenizer, const std::vector<int>& ids) {
  text::TextStream stream(tokenizer);
  std::string text;
  for (const int id : ids) text += stream.add(id);
  return text + stream.finish();
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  return fuzz::prepare([] { tokenizers(); });
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::test(ErrorKind::data, data, size, [](std::string_view input) {
    if (!is_valid_utf8(input)) return;  // refused long before
    for (const Tokenizer& tokenizer : tokenizers()) {
      const std::vector<int> ids = tokenizer.encode(input);
      const std::string decoded = tokenizer.decode(ids);
      fuzz::require(streamed(tokenizer, ids) == decoded, "the same text streamed and at once");
      text::words_of_pieces(ids, tokenizer);
      if (tokenizer.subwords() == Subwords::byte) {
        fuzz::require(decoded == input, "the same bytes from a tokenizer of bytes");
      }
      if (tokenizer.subwords() == Subwords::bpe) {
        static const text::BpeDropout none(tokenizer, 0), half(tokenizer, 0.5);
        fuzz::require(none.encode(input, 1) == ids, "the same ids without dropout");
        fuzz::require(tokenizer.decode(half.encode(input, 1)) == decoded,
                      "the same text with dropout");
      }
    }
  });
}
