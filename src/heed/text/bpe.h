// The model BPE: neighbours are merged, the pair that was learned first before all others
// (Sennrich, Haddow and Birch 2016).
#pragma once

#include <cstdint>
#include <string>

#include "heed/text/byte_tokens.h"
#include "heed/text/pair_table.h"
#include "heed/text/subword_model.h"
#include "heed/text/unknown_token.h"

namespace heed::text {

class Bpe : public SubwordModel {
 public:
  explicit Bpe(const io::JsonFields& fields);
  void segment(std::string_view word, std::vector<WordPart>& parts) const override;

 private:
  struct Symbol;       // a part of the word so far
  struct Scratch;      // memory that segmenting takes again and again
  class FirstSymbols;  // makes the characters of a word symbols

  void read_merges(const io::JsonFields& fields);
  void add_merge(std::string_view left, std::string_view right, std::uint32_t rank,
                 const std::string& place);
  int id_of(std::string_view piece, const std::string& place) const;
  // The piece of a character at this place in its word.
  std::string with_affixes(std::string_view character, bool is_first, bool is_last) const;
  std::optional<int> character_id(std::string_view character, bool is_first, bool is_last) const;
  void merge(Scratch& scratch) const;
  void segment_anew(std::string_view word, std::vector<WordPart>& parts) const;

  UnknownToken unknown_;
  std::string prefix_, suffix_;  // of pieces that do not begin, and that end a word
  bool fuses_unknown_ = false;
  bool takes_whole_words_ = false;
  std::optional<ByteTokens> bytes_;
  MergeTable merges_;
  std::uint64_t serial_;  // tells the caches of tokenizers apart
};

}  // namespace heed::text
