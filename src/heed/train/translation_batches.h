// Packs pairs of a corpus into what a translation model trains on.
#pragma once

#include <span>

#include "heed/data/translation_corpus.h"
#include "heed/models/translation_model.h"

namespace heed::train {

// The target input is the target output moved by one: it begins with the end token.
models::TranslationBatch make_batch(const data::TranslationCorpus& corpus,
                                    std::span<const Index> pairs);

}  // namespace heed::train
