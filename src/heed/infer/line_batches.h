// Batches of lines for encoder models.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "heed/infer/line_options.h"
#include "heed/models/packed_ids.h"
#include "heed/models/transformer_config.h"
#include "heed/text/tokenizer.h"

namespace heed::infer {

// The tokens of each line in the tokenizer's template. Refuses (ErrorKind::data) blank lines, and
// what check_lengths refuses.
std::vector<std::vector<int>> encode_lines(std::span<const std::string> lines,
                                           const text::Tokenizer& tokenizer,
                                           const models::TransformerConfig& config,
                                           const LineOptions& options);

// The same for pairs of texts: a </s> b </s>.
std::vector<std::vector<int>> encode_pairs(std::span<const std::string> first,
                                           std::span<const std::string> second,
                                           const text::Tokenizer& tokenizer,
                                           const models::TransformerConfig& config,
                                           const LineOptions& options);

// Refuses (ErrorKind::data) lines, in that template, of more than max_text_tokens.
void check_lengths(std::span<const std::vector<int>> lines, const text::SequenceTemplate& sequence,
                   const models::TransformerConfig& config, const LineOptions& options);

// Calls work(first, input) for each batch of neighbouring lines, at most batch_tokens or one line;
// `first` is the number of its first line, from 0. Whole batches run in parallel.
void over_batches(std::span<const std::vector<int>> lines, const text::SequenceTemplate& sequence,
                  Index batch_tokens,
                  const std::function<void(Index first, const models::PackedIds& input)>& work);

}  // namespace heed::infer
