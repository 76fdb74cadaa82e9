// Which words of a translation come from which words of its source, by cross-attention.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/metrics/alignment_error_rate.h"
#include "heed/models/translation_model.h"
#include "heed/text/tokenizer.h"

namespace heed::infer {

using metrics::AlignedWords;

std::string to_pharaoh(std::span<const AlignedWords> alignment);  // "0-0 1-2"

// The number of the word that each piece belongs to; white space goes with the word behind it.
std::vector<Index> words_of_pieces(std::span<const int> ids, const text::Tokenizer& tokenizer);

// weights [H, target pieces or more, source pieces or more] -> for each target word the source word
// that it looks at most: mean over heads and over the target word's pieces, sum over the source
// word's.
std::vector<AlignedWords> align_words(const Tensor& weights, std::span<const Index> source_words,
                                      std::span<const Index> target_words);

// The cross-attention weights of the decoder's last layers, heads of all of them side by side:
// [layers * H, target + 1, source + 1] per sequence, when the model reads each target (both without
// end token) after its source. With changes, if there are any.
std::vector<Tensor> cross_attention_weights(const models::TranslationModel& model,
                                            std::span<const std::vector<int>> sources,
                                            std::span<const std::vector<int>> targets,
                                            Index first_layer,
                                            const nn::AttentionHook* hook = nullptr);

// The heads that an alignment is taken from, [heads, target + 1, source + 1] per sequence: the one
// that guided alignment has led there, or all of the last two layers. Lower layers look at the
// source of the token before. Against links that two word-translation models (IBM 1) agree on, 400
// sentences of Multi30k, a tiny model's last layer alone found 78% of the links, the last but one
// 75%, both together 81%.
std::vector<Tensor> alignment_weights(const models::TranslationModel& model,
                                      std::span<const std::vector<int>> sources,
                                      std::span<const std::vector<int>> targets,
                                      const nn::AttentionHook* hook = nullptr);

}  // namespace heed::infer
