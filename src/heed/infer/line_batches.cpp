#include "heed/infer/line_batches.h"

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/data/batch_plan.h"
#include "heed/data/translation_corpus.h"
#include "heed/infer/packing.h"
#include "heed/infer/token_limit.h"
#include "heed/text/encode_lines.h"
#include "heed/text/lines.h"

namespace heed::infer {

std::vector<std::vector<int>> encode_lines(std::span<const std::string> lines,
                                           const text::Tokenizer& tokenizer,
                                           const models::TransformerConfig& config,
                                           const LineOptions& options) {
  auto encoded = text::encode_lines(lines, tokenizer, text::LineForm::input);
  if (config.truncate_source > 0) {
    for (std::vector<int>& ids : encoded) {
      tokenizer.sequence().truncate(ids, config.truncate_source);
    }
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    check_as(ErrorKind::data, !encoded[i].empty() && !text::is_blank(lines[i]), "line ",
             options.first_line + static_cast<Index>(i), ": expected text, found a blank line");
  }
  check_lengths(encoded, tokenizer.sequence(), config, options);
  return encoded;
}

std::vector<std::vector<int>> encode_pairs(std::span<const std::string> first,
                                           std::span<const std::string> second,
                                           const text::Tokenizer& tokenizer,
                                           const models::TransformerConfig& config,
                                           const LineOptions& options) {
  auto encoded = text::encode_pairs(first, second, tokenizer);
  for (std::size_t i = 0; i < encoded.size(); ++i) {
    const bool is_blank =
        encoded[i].empty() || text::is_blank(first[i]) || text::is_blank(second[i]);
    check_as(ErrorKind::data, !is_blank, "line ", options.first_line + static_cast<Index>(i),
             ": expected two texts, found a blank one");
    if (config.truncate_source > 0) {
      tokenizer.sequence().truncate_pair(encoded[i], config.truncate_source);
    }
  }
  check_lengths(encoded, tokenizer.sequence(), config, options);
  return encoded;
}

void check_lengths(std::span<const std::vector<int>> lines, const text::SequenceTemplate& sequence,
                   const models::TransformerConfig& config, const LineOptions& options) {
  const Index num_special = sequence.num_added();
  const Index num_added = num_special + (models::puts_begin_first(config) ? 1 : 0);
  const TokenLimit limit{.max_tokens = max_text_tokens(config) - num_added, .what = "a text"};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    check_length(std::ssize(lines[i]) - num_special, options.first_line + static_cast<Index>(i),
                 limit);
  }
}

void over_batches(std::span<const std::vector<int>> lines, const text::SequenceTemplate& sequence,
                  Index batch_tokens,
                  const std::function<void(Index first, const models::PackedIds& input)>& work) {
  const auto batches = data::batches_in_order(
      lines, batch_tokens, [](const std::vector<int>& ids) { return std::ssize(ids); });
  parallel_for(std::ssize(batches), [&](Index number) {
    const NoGrad no_grad;
    const std::span<const std::vector<int>> batch = batches[number];
    const std::vector<std::span<const int>> inputs(batch.begin(), batch.end());
    work(batch.data() - lines.data(), pack_inputs(inputs, sequence));
  });
}

}  // namespace heed::infer
