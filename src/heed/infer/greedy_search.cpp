#include "heed/infer/greedy_search.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/infer/beam_search.h"
#include "heed/infer/token_rules.h"
#include "heed/ops/embedding.h"

namespace heed::infer {
namespace {

// Beams compare log-probabilities, logit - shift, which are rounded to steps of at most this size
// where the shift is below 16, as it is for any vocabulary below e^16 when the logit is the
// largest. Logits that are further apart than two steps stay apart.
constexpr double step_of_log_probabilities = 1.0 / (1 << 20);
constexpr double safe_margin = 4 * step_of_log_probabilities;

struct Sentence {
  std::vector<int> ids;
  std::span<const int> prefix;
  Index max_length;
};

// All sentences of a batch, step by step. Rows of the decoder's state are those that are not
// finished, in their order.
class Search {
 public:
  Search(const models::TranslationModel& model, const ops::ArgmaxProjection& projection,
         const models::PackedIds& sources, const BeamSearchOptions& options,
         std::span<const std::vector<int>> prefixes)
      : model_(model),
        projection_(projection),
        options_(options),
        tokens_(special_tokens(options, model.config())),
        context_(nn::ForwardContext::inference(nullptr, options.hook)),
        state_(model.start(model.encode(sources, context_),
                           std::vector<Index>(sources.spans.count(), 1))) {
    for (Index s = 0; s < sources.spans.count(); ++s) {
      const std::span<const int> prefix =
          prefixes.empty() ? std::span<const int>() : std::span(prefixes[s]);
      const Index limit = max_length(sources.spans[s].length, options, model.config());
      sentences_.push_back({{}, prefix, std::max(limit, std::ssize(prefix))});
      live_.push_back(s);
    }
  }

  std::vector<std::vector<int>> run() {
    while (!live_.empty()) step();
    std::vector<std::vector<int>> translations;
    for (Sentence& sentence : sentences_) translations.push_back(std::move(sentence.ids));
    return translations;
  }

 private:
  void step() {
    std::vector<int> last;
    for (const Index s : live_) {
      const std::vector<int>& ids = sentences_[s].ids;
      last.push_back(ids.empty() ? tokens_.decoder_start : ids.back());
    }
    const std::vector<int> next = next_tokens(model_.step(last, state_, context_));
    std::vector<Index> kept_rows, live;
    for (std::size_t row = 0; row < live_.size(); ++row) {
      Sentence& sentence = sentences_[live_[row]];
      if (tokens_.is_end(next[row])) continue;
      sentence.ids.push_back(next[row]);
      if (is_full(sentence) && !is_end_forced()) continue;
      kept_rows.push_back(static_cast<Index>(row));
      live.push_back(live_[row]);
    }
    if (live.size() < live_.size()) state_.reorder(kept_rows);
    live_ = std::move(live);
  }

  bool is_end_forced() const { return options_.rules == models::SearchRules::heed; }
  static bool is_full(const Sentence& sentence) {
    return std::ssize(sentence.ids) == sentence.max_length;
  }

  // decoded [rows, D] -> a token for each row.
  std::vector<int> next_tokens(const Tensor& decoded) const {
    const std::vector<Index> best = projection_.argmax(decoded, safe_margin);
    std::vector<int> tokens(best.size());
    std::vector<Index> inconclusive;
    for (std::size_t row = 0; row < best.size(); ++row) {
      const Sentence& sentence = sentences_[live_[row]];
      tokens[row] = static_cast<int>(best[row]);
      if (sentence.ids.size() < sentence.prefix.size()) {
        tokens[row] = sentence.prefix[sentence.ids.size()];
      } else if (is_full(sentence)) {
        tokens[row] = tokens_.end();
      } else if (best[row] == ops::ArgmaxProjection::inconclusive ||
                 std::ranges::binary_search(never_after(sentence.ids, options_, tokens_),
                                            tokens[row])) {
        inconclusive.push_back(static_cast<Index>(row));
      }
    }
    if (!inconclusive.empty()) choose_by_logits(decoded, inconclusive, tokens);
    return tokens;
  }

  void choose_by_logits(const Tensor& decoded, std::span<const Index> rows,
                        std::span<int> tokens) const {
    const Tensor logits = model_.logits(ops::gather_rows(decoded, rows));
    const std::size_t width = logits.dim(-1);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto best =
          top_tokens(LogProbabilities::of_logits(logits.values().subspan(i * width, width)), 1,
                     never_after(sentences_[live_[rows[i]]].ids, options_, tokens_));
      check_as(ErrorKind::model, !best.empty(),
               "greedy search: expected a token with a finite score, found none");
      tokens[rows[i]] = best.front().token;
    }
  }

  const models::TranslationModel& model_;
  const ops::ArgmaxProjection& projection_;
  const BeamSearchOptions& options_;
  text::SpecialTokens tokens_;
  nn::ForwardContext context_;
  nn::StackCache state_;
  std::vector<Sentence> sentences_;
  std::vector<Index> live_;  // the sentence of each row
};

}  // namespace

bool is_greedy(const BeamSearchOptions& options) {
  return options.beam_size == 1 && !options.constraints.has_required() && !options.observer &&
         !has_any(options.token_rules);
}

std::vector<std::vector<int>> greedy_search(const models::TranslationModel& model,
                                            const ops::ArgmaxProjection& projection,
                                            const models::PackedIds& sources,
                                            const BeamSearchOptions& options,
                                            std::span<const std::vector<int>> prefixes) {
  check(is_greedy(options), "greedy search: expected the options of a greedy one");
  check_search(options, prefixes, sources.spans.count(), model.config());
  if (sources.spans.count() == 0) return {};
  const NoGrad no_grad;
  return Search(model, projection, sources, options, prefixes).run();
}

}  // namespace heed::infer
