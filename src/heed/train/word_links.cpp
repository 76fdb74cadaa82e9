#include "heed/train/word_links.h"

#include "heed/base/cancellation.h"
#include "heed/base/error.h"
#include "heed/text/lines.h"
#include "heed/text/words.h"

namespace heed::train {
namespace {

// The tokens of each word of a sequence, as rows of the batch; the last token, which ends the
// sentence or begins the next, is left out.
std::vector<std::vector<Index>> rows_of_words(std::span<const int> ids, Index first_row,
                                              const text::Tokenizer& tokenizer) {
  std::vector<std::vector<Index>> rows;
  const std::vector<Index> words = text::words_of_pieces(ids, tokenizer);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto word = static_cast<std::size_t>(words[i]);
    if (rows.size() <= word) rows.resize(word + 1);
    rows[word].push_back(first_row + static_cast<Index>(i));
  }
  return rows;
}

std::span<const int> without_end(const std::vector<int>& ids, const Span& span) {
  return std::span(ids).subspan(static_cast<std::size_t>(span.begin),
                                static_cast<std::size_t>(span.length - 1));
}

}  // namespace

WordLinks read_word_links(const std::filesystem::path& path, std::size_t num_lines) {
  const std::vector<std::string> lines = text::read_lines(path);
  check_as(ErrorKind::data, lines.size() == num_lines, path.string(), ": expected ", num_lines,
           " lines, as many as the source has, found ", lines.size());
  WordLinks links;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    check_cancelled(i);
    links.push_back(
        metrics::parse_pharaoh(lines[i], path.string() + ": line " + std::to_string(i + 1)));
  }
  return links;
}

std::vector<ops::AttentionLink> token_links(const WordLinks& links, std::span<const Index> lines,
                                            const models::TranslationBatch& batch,
                                            const text::Tokenizer& tokenizer) {
  std::vector<ops::AttentionLink> pairs;
  for (std::size_t s = 0; s < lines.size(); ++s) {
    const Span& source = batch.source.spans[static_cast<Index>(s)];
    // The row of the target input that predicts a token has the index of the token in the output.
    const Span& target = batch.target_input.spans[static_cast<Index>(s)];
    const auto keys = rows_of_words(without_end(batch.source.ids, source), source.begin, tokenizer);
    const auto queries =
        rows_of_words(without_end(batch.target_output, target), target.begin, tokenizer);
    for (const metrics::AlignedWords& link : links[static_cast<std::size_t>(lines[s])]) {
      if (link.source >= std::ssize(keys) || link.target >= std::ssize(queries)) continue;
      for (const Index query : queries[static_cast<std::size_t>(link.target)]) {
        for (const Index key : keys[static_cast<std::size_t>(link.source)]) {
          pairs.push_back({query, key});
        }
      }
    }
  }
  return pairs;
}

}  // namespace heed::train
