// The normal forms of Unicode (UAX #15), with alignments.
#pragma once

#include "heed/text/aligned_text.h"

namespace heed::text {

enum class NormalForm { nfc, nfd, nfkc, nfkd };

void normalize(AlignedText& text, NormalForm form);

}  // namespace heed::text
