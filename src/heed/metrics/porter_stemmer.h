// Porter's stemmer for English: words without their suffixes, so that forms of a word are equal.
#pragma once

#include <string>
#include <string_view>

namespace heed::metrics {

// "relational" -> "relat". Porter, "An algorithm for suffix stripping", 1980, with the extensions
// that are the default of NLTK 3. For lower-case words of a-z; digits count as consonants. Words
// of one or two letters stay as they are.
std::string porter_stem(std::string_view word);

}  // namespace heed::metrics
