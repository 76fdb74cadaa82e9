// Any bytes as tokenizer.json, after the length of a text in one byte and that text, which is
// encoded with it and decoded again.
#include "harness.h"
#include "heed/text/json_tokenizer.h"

using namespace heed;

namespace {

void check_lengths(const text::Encoding& encoding) {
  const std::size_t size = encoding.size();
  fuzz::require(encoding.tokens.size() == size && encoding.offsets.size() == size &&
                    encoding.type_ids.size() == size && encoding.attention_mask.size() == size &&
                    encoding.special_mask.size() == size,
                "lists of one length");
}

// A template and the padding may have ids that the vocabulary does not.
bool is_known(const text::JsonTokenizer& tokenizer, const text::Encoding& encoding) {
  for (const int id : encoding.ids) {
    if (id >= tokenizer.size()) return false;
  }
  return true;
}

void use(const text::JsonTokenizer& tokenizer, const std::string& line) {
  const text::Encoding encoding = tokenizer.encode(line);
  check_lengths(encoding);
  const text::Encoding bare = tokenizer.encode(line, {.with_special = false});
  if (is_known(tokenizer, bare)) tokenizer.decode(bare.ids);
  if (is_known(tokenizer, encoding)) tokenizer.decode(encoding.ids, {.skip_special = true});
  check_lengths(tokenizer.encode_pair(line, line));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::test(ErrorKind::model, data, size, [](std::string_view input) {
    const auto [length, rest] = fuzz::split_choice(input);
    const std::string line(rest.substr(0, length));
    use(text::JsonTokenizer::from_bytes(rest.substr(line.size())), line);
  });
}
