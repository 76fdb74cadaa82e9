#include "heed/text/word_level.h"

namespace heed::text {

WordLevel::WordLevel(const io::JsonFields& fields)
    : SubwordModel(Vocabulary::read(fields, "vocab")), unknown_(fields, vocabulary()) {}

void WordLevel::segment(std::string_view word, std::vector<WordPart>& parts) const {
  const std::optional<int> id = vocabulary().find(word);
  parts.push_back({id ? *id : unknown_.id(), {0, word.size()}});
}

}  // namespace heed::text
