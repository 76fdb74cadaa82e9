// The model Unigram: the pieces with the largest sum of scores (Kudo 2018).
#pragma once

#include "heed/text/byte_tokens.h"
#include "heed/text/piece_trie.h"
#include "heed/text/subword_model.h"

namespace heed::text {

class Unigram : public SubwordModel {
 public:
  explicit Unigram(const io::JsonFields& fields);
  // Unknown characters beside each other are one part, or one for each of their bytes.
  void segment(std::string_view word, std::vector<WordPart>& parts) const override;

 private:
  struct Node;  // the best way to a place in the word

  std::vector<Node> best_ways(std::string_view word) const;
  int unknown_id() const;
  void add_unknown(std::string_view word, ByteRange range, std::vector<WordPart>& parts) const;

  std::string place_;
  std::vector<double> scores_;  // by id
  double unknown_score_ = 0;
  std::optional<int> unknown_id_;
  PieceTrie pieces_;
  std::optional<ByteTokens> bytes_;
};

}  // namespace heed::text
