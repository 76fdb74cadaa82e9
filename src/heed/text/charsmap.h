// The tables of a SentencePiece model that normalise characters. SentencePiece follows them
// wherever they lead, out of its memory too.
#pragma once

#include <string_view>

namespace heed::text {

// Do all tables of a serialised model lead to their own texts? False also for a model that cannot
// be read to its end.
bool has_safe_charsmaps(std::string_view model);

}  // namespace heed::text
