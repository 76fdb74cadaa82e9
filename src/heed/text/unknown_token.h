// The piece that stands for what a vocabulary does not have.
#pragma once

#include <optional>
#include <string>

#include "heed/io/json_fields.h"
#include "heed/text/vocabulary.h"

namespace heed::text {

class UnknownToken {
 public:
  // The field `unk_token`.
  UnknownToken(const io::JsonFields& fields, const Vocabulary& vocabulary);

  bool is_named() const { return token_.has_value(); }
  // Refuses (ErrorKind::model) when the vocabulary has no such piece.
  int id() const;

 private:
  std::string place_;
  std::optional<std::string> token_;
  std::optional<int> id_;
};

}  // namespace heed::text
