// Alignment error rate of every cross-attention head against human-annotated word links.
//
//   alignment_error MODEL SOURCE TARGET LINKS
//
// Line i of LINKS has the links of line i of the two texts: 0-1 is sure, 0?1 is possible. The model
// runs teacher-forced; a target word is linked to the source word with the highest weight. Only
// target words with a link in LINKS are counted. Prints the alignment error rate of every head, of
// the mean over the last layers, which `heed translate --alignment` uses, and of the best head.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "heed/infer/alignment.h"
#include "heed/metrics/alignment_error_rate.h"
#include "heed/models/model_folder.h"
#include "heed/models/translation_model.h"
#include "heed/text/lines.h"
#include "heed/text/words.h"

namespace heed {
namespace {

using metrics::AlignedWords, metrics::AlignmentErrorRate, metrics::ReferenceAlignment;

constexpr std::size_t lines_per_batch = 16;

// Heads [first, first + count) of weights [heads, queries, keys].
Tensor heads_of(const Tensor& weights, Index first, Index count) {
  const Index size = weights.dim(1) * weights.dim(2);
  return Tensor::from(weights.values().subspan(first * size, count * size),
                      {count, weights.dim(1), weights.dim(2)});
}

std::set<Index> targets_of(const ReferenceAlignment& reference) {
  std::set<Index> targets;
  for (const AlignedWords& link : reference.sure) targets.insert(link.target);
  for (const AlignedWords& link : reference.possible) targets.insert(link.target);
  return targets;
}

struct Scores {
  std::vector<AlignmentErrorRate> heads;  // of all layers, in order
  AlignmentErrorRate last_layers;
};

class Scorer {
 public:
  explicit Scorer(const std::string& model)
      : folder_(models::load_model_folder<models::TranslationModel>(model)) {
    scores.heads.resize(static_cast<std::size_t>(config().decoder_layers * config().num_heads));
  }

  const models::TransformerConfig& config() const { return folder_.model.config(); }

  void add(std::span<const std::string> sources, std::span<const std::string> targets,
           std::span<const ReferenceAlignment> references) {
    const auto source_ids = encode(sources), target_ids = encode(targets);
    const auto weights = infer::cross_attention_weights(folder_.model, source_ids, target_ids, 0);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const auto source_words = text::words_of_pieces(source_ids[i], folder_.tokenizer);
      const auto target_words = text::words_of_pieces(target_ids[i], folder_.tokenizer);
      const std::set<Index> counted = targets_of(references[i]);
      const auto score = [&](AlignmentErrorRate& rate, Index first, Index count) {
        auto links =
            infer::align_words(heads_of(weights[i], first, count), source_words, target_words);
        std::erase_if(links,
                      [&](const AlignedWords& link) { return !counted.contains(link.target); });
        rate.add(links, references[i]);
      };
      const auto num_heads = static_cast<Index>(scores.heads.size());
      for (Index head = 0; head < num_heads; ++head) {
        score(scores.heads[static_cast<std::size_t>(head)], head, 1);
      }
      const Index first = std::max<Index>(config().decoder_layers - 2, 0) * config().num_heads;
      score(scores.last_layers, first, num_heads - first);
    }
  }

  Scores scores;

 private:
  std::vector<std::vector<int>> encode(std::span<const std::string> lines) const {
    std::vector<std::vector<int>> ids;
    for (const std::string& line : lines) ids.push_back(folder_.tokenizer.encode(line));
    return ids;
  }

  models::TranslationModelFolder folder_;
};

std::string to_text(const AlignmentErrorRate& rate) {
  return fmt::format("error rate {:5.1f} %, precision {:5.1f} %, recall {:5.1f} %",
                     100 * rate.value(), 100 * rate.precision(), 100 * rate.recall());
}

void print(const Scores& scores, Index num_heads) {
  const auto name = [&](std::size_t i) {
    const auto head = static_cast<Index>(i);
    return fmt::format("layer {} head {}", head / num_heads + 1, head % num_heads + 1);
  };
  for (std::size_t i = 0; i < scores.heads.size(); ++i) {
    std::cout << fmt::format("{:<24}{}\n", name(i), to_text(scores.heads[i]));
  }
  std::cout << fmt::format("{:<24}{}\n", "mean of last layers", to_text(scores.last_layers));
  const auto best = std::ranges::min_element(scores.heads, {}, &AlignmentErrorRate::value);
  const auto place = static_cast<std::size_t>(best - scores.heads.begin());
  std::cout << fmt::format("{:<24}{}\n", "best, " + name(place), to_text(*best));
}

void run(const std::vector<std::string>& args) {
  const text::ParallelLines lines = text::read_parallel_lines(args[1], args[2]);
  std::vector<ReferenceAlignment> references;
  for (const std::string& line : text::read_lines(args[3])) {
    const std::string where = args[3] + ':' + std::to_string(references.size() + 1);
    references.push_back(metrics::parse_reference_alignment(line, where));
  }
  check_as(ErrorKind::data, references.size() == lines.source.size(), args[3], ": expected ",
           lines.source.size(), " lines of links, found ", references.size());
  Scorer scorer(args[0]);
  for (std::size_t first = 0; first < references.size(); first += lines_per_batch) {
    const std::size_t count = std::min(lines_per_batch, references.size() - first);
    scorer.add(std::span(lines.source).subspan(first, count),
               std::span(lines.target).subspan(first, count),
               std::span(references).subspan(first, count));
  }
  print(scorer.scores, scorer.config().num_heads);
}

}  // namespace
}  // namespace heed

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (args.size() != 4) {
    std::cerr << "usage: alignment_error MODEL SOURCE TARGET LINKS\n";
    return 2;
  }
  try {
    heed::run(args);
  } catch (const std::exception& error) {
    std::cerr << "alignment_error: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
