// The tokens of a text, with all that a model or a reader may want to know of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heed::text {

struct EncodeOptions {
  bool with_special = true;  // the special tokens of the file's template
  bool fits_length = true;   // the sections `truncation` and `padding` of the file act on the text
};

struct DecodeOptions {
  bool skip_special = false;  // leave out added tokens that are special
};

// Code points of the original text. A special token has {0, 0}.
struct Offsets {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  friend bool operator==(const Offsets&, const Offsets&) = default;
};

// All lists have the same length.
struct Encoding {
  std::vector<int> ids = {};
  std::vector<std::string> tokens = {};
  std::vector<Offsets> offsets = {};
  std::vector<int> type_ids = {};        // which part of a pair: usually 0 or 1
  std::vector<int> attention_mask = {};  // 0: padding
  std::vector<int> special_mask = {};    // 1: from the template or the padding, not from the text

  std::size_t size() const { return ids.size(); }

  struct Token {
    int id = 0;
    std::string token = {};
    Offsets offsets = {};
    int type_id = 0;
    int attention = 1;
    int special = 0;
  };
  void push_back(Token token);
  void append(const Encoding& other);
  // Removes all tokens but those from `begin` to `end`.
  void keep(std::size_t begin, std::size_t end);
};

}  // namespace heed::text
