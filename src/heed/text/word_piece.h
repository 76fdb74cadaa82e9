// The model WordPiece: the longest piece that a word begins with, again and again.
#pragma once

#include "heed/text/piece_trie.h"
#include "heed/text/subword_model.h"
#include "heed/text/unknown_token.h"

namespace heed::text {

class WordPiece : public SubwordModel {
 public:
  explicit WordPiece(const io::JsonFields& fields);
  // A word that has no such pieces to its end, or that is very long, is one unknown part.
  void segment(std::string_view word, std::vector<WordPart>& parts) const override;

 private:
  bool segment_known(std::string_view word, std::vector<WordPart>& parts) const;

  UnknownToken unknown_;
  std::size_t max_characters_;
  PieceTrie first_, continuing_;  // pieces that begin a word, and without their prefix the others
};

}  // namespace heed::text
