// The sections `truncation` and `padding` of a tokenizer.json.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "heed/io/json_fields.h"
#include "heed/text/encoding.h"

namespace heed::text {

enum class Side { left, right };

class Truncation {
 public:
  explicit Truncation(const io::JsonFields& fields);
  // Shortens a text or a pair so that with `num_added` special tokens it has at most max_length.
  // Refuses (ErrorKind::model) what the strategy cannot shorten enough.
  void apply(Encoding& text, Encoding* second, std::size_t num_added) const;

 private:
  enum class Strategy { longest_first, only_first, only_second };

  void shorten(Encoding& text, std::size_t size) const;
  void shorten_both(Encoding& text, Encoding& second, std::size_t max_size) const;

  std::string place_;
  std::size_t max_length_;
  Strategy strategy_;
  Side side_;
};

class Padding {
 public:
  explicit Padding(const io::JsonFields& fields);
  void apply(Encoding& text) const;

 private:
  std::optional<std::size_t> fixed_;  // otherwise as long as the text
  std::optional<std::size_t> multiple_;
  Side side_;
  Encoding::Token token_;
};

}  // namespace heed::text
