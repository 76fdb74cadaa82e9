// The model WordLevel: a word is a piece, or unknown.
#pragma once

#include "heed/text/subword_model.h"
#include "heed/text/unknown_token.h"

namespace heed::text {

class WordLevel : public SubwordModel {
 public:
  explicit WordLevel(const io::JsonFields& fields);
  void segment(std::string_view word, std::vector<WordPart>& parts) const override;

 private:
  UnknownToken unknown_;
};

}  // namespace heed::text
