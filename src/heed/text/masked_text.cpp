#include "heed/text/masked_text.h"

#include "heed/base/error.h"

namespace heed::text {
namespace {

constexpr std::string_view visible_space = "\xe2\x96\x81";  // U+2581

// The parts of the line between its masks: one more than masks.
std::vector<std::string_view> parts_between(std::string_view line, std::string_view mask) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = line.find(mask);
    parts.push_back(line.substr(0, end));
    if (end == line.npos) return parts;
    line.remove_prefix(end + mask.size());
  }
}

std::string_view without_spaces_around(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

// SentencePiece takes whatever stands between spaces for a word, masks included.
MaskedText encode_words(const Tokenizer& tokenizer, const std::vector<std::string_view>& parts) {
  MaskedText encoded;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) {
      encoded.masks.push_back({.place = std::ssize(encoded.ids), .begins_word = true});
      encoded.ids.push_back(*tokenizer.mask());
    }
    const std::string_view words = without_spaces_around(parts[i]);
    if (words.empty()) continue;
    const std::vector<int> ids = tokenizer.encode(words);
    encoded.ids.insert(encoded.ids.end(), ids.begin(), ids.end());
  }
  return encoded;
}

std::string with_masks(const std::vector<std::string_view>& parts, std::string_view mask) {
  std::string masked(parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i) masked.append(mask).append(parts[i]);
  return masked;
}

MaskedText encode_pieces(const Tokenizer& tokenizer, const std::vector<std::string_view>& parts) {
  const bool spaces_stand_alone = tokenizer.subwords() == Subwords::character;
  MaskedText encoded;
  for (const int id : tokenizer.encode(with_masks(parts, tokenizer.mask_text()))) {
    if (id == *tokenizer.mask()) {
      const std::string before = encoded.ids.empty() ? "" : tokenizer.piece(encoded.ids.back());
      if (before == visible_space && !spaces_stand_alone) encoded.ids.pop_back();
      encoded.masks.push_back({.place = std::ssize(encoded.ids),
                               .begins_word = before.empty() || before.ends_with(visible_space)});
    }
    encoded.ids.push_back(id);
  }
  return encoded;
}

// The mask may take the spaces around it, so only the text says whether there were some.
MaskedText encode_foreign(const Tokenizer& tokenizer, std::string_view line,
                          std::string_view mask) {
  const std::string own_mask = tokenizer.mask_text();
  const std::string masked = with_masks(parts_between(line, mask), own_mask);
  const std::vector<std::string_view> parts = parts_between(masked, own_mask);
  MaskedText encoded{.ids = tokenizer.encode(masked), .masks = {}};
  for (std::size_t i = 0; i < encoded.ids.size(); ++i) {
    if (encoded.ids[i] != *tokenizer.mask()) continue;
    const std::size_t number = encoded.masks.size();
    const std::string_view before = number < parts.size() ? parts[number] : " ";
    const bool is_first = number == 0 && before.empty();
    encoded.masks.push_back(
        {.place = static_cast<Index>(i), .begins_word = is_first || before.ends_with(' ')});
  }
  return encoded;
}

}  // namespace

MaskedText encode_masked_text(const Tokenizer& tokenizer, std::string_view line,
                              std::string_view mask) {
  check(tokenizer.mask().has_value() && !mask.empty(),
        "fill-mask: expected a tokenizer with a mask token, and a mask that is not empty");
  if (!tokenizer.is_own()) return encode_foreign(tokenizer, line, mask);
  const std::vector<std::string_view> parts = parts_between(line, mask);
  return tokenizer.subwords() == Subwords::word ? encode_words(tokenizer, parts)
                                                : encode_pieces(tokenizer, parts);
}

}  // namespace heed::text
