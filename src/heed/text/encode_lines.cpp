#include "heed/text/encode_lines.h"

#include "heed/base/cancellation.h"
#include "heed/base/error.h"

namespace heed::text {
namespace {

std::vector<int> encode_line(const std::string& line, const Tokenizer& tokenizer, LineForm form) {
  std::vector<int> ids =
      form == LineForm::output ? tokenizer.encode_target(line) : tokenizer.encode(line);
  if (ids.empty()) return ids;
  const SequenceTemplate& sequence = tokenizer.sequence();
  switch (form) {
    case LineForm::text:
      break;
    case LineForm::prompt:
      ids.insert(ids.begin(), sequence.prefix.begin(), sequence.prefix.end());
      break;
    case LineForm::input:
      return sequence.single(ids);
    case LineForm::output:
      ids.push_back(tokenizer.end_token());
  }
  return ids;
}

}  // namespace

std::vector<std::vector<int>> encode_lines(std::span<const std::string> lines,
                                           const Tokenizer& tokenizer, LineForm form) {
  constexpr Index lines_per_piece = 64;
  std::vector<std::vector<int>> encoded(lines.size());
  cancellable_ranges(std::ssize(lines), lines_per_piece, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) encoded[i] = encode_line(lines[i], tokenizer, form);
  });
  return encoded;
}

std::vector<int> encode_line_end(const Tokenizer& tokenizer) {
  std::vector<int> ids = tokenizer.encode("\n");
  const bool has_space =
      !tokenizer.is_own() && ids.size() > 1 && tokenizer.surface(ids.front()) == " ";
  if (has_space) ids.erase(ids.begin());
  return ids;
}

std::vector<std::vector<int>> encode_pairs(std::span<const std::string> first,
                                           std::span<const std::string> second,
                                           const Tokenizer& tokenizer) {
  check(first.size() == second.size(), "encode_pairs: expected a second text for each of ",
        first.size(), ", got ", second.size());
  auto encoded = encode_lines(first, tokenizer);
  const auto others = encode_lines(second, tokenizer);
  for (std::size_t i = 0; i < encoded.size(); ++i) {
    if (encoded[i].empty() || others[i].empty()) {
      encoded[i].clear();
    } else {
      encoded[i] = tokenizer.sequence().pair(encoded[i], others[i]);
    }
  }
  return encoded;
}

}  // namespace heed::text
