// Word alignments of sentence pairs, from a file, and the alignments of their tokens.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "heed/metrics/word_alignment.h"
#include "heed/models/translation_model.h"
#include "heed/text/tokenizer.h"

namespace heed::train {

// A list of word pairs for every line.
using WordLinks = std::vector<std::vector<metrics::AlignedWords>>;

// Lines of the Pharaoh format, `0-0 1-2`; blank ones have no links. Refuses (ErrorKind::data)
// another format and another number of lines.
WordLinks read_word_links(const std::filesystem::path& path, std::size_t num_lines);

// Between all tokens of words that belong together. The sequences of a batch are the lines with
// these numbers; words that a sentence does not have are skipped.
std::vector<ops::AttentionLink> token_links(const WordLinks& links, std::span<const Index> lines,
                                            const models::TranslationBatch& batch,
                                            const text::Tokenizer& tokenizer);

}  // namespace heed::train
