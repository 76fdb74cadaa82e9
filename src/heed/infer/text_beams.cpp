#include "heed/infer/text_beams.h"

#include "heed/base/error.h"
#include "heed/infer/beam_search.h"
#include "heed/infer/sampling.h"
#include "heed/infer/stop_text.h"
#include "heed/models/language_model.h"
#include "heed/text/text_stream.h"

namespace heed::infer {
namespace {

void check_options(const GenerationOptions& options) {
  const SamplingOptions& sampling = options.sampling;
  const bool is_plain =
      sampling.temperature == 0 || (sampling.temperature == 1 && sampling.top_k == 0 &&
                                    sampling.top_p == 1 && sampling.min_p == 0);
  check_as(ErrorKind::usage, is_plain, "`beam_size`: expected 1 with sampling, found ",
           options.beam_size);
}

BeamSearchOptions search_of(const GenerationOptions& options, const text::SpecialTokens& tokens) {
  BeamSearchOptions search{.beam_size = options.beam_size,
                           .length_penalty = options.length_penalty,
                           .n_best = options.num_samples,
                           .constraints = options.constraints,
                           .rules = models::SearchRules::transformers,
                           .early_stopping = options.early_stopping,
                           .token_rules = options.token_rules,
                           .tokens = tokens,
                           .hook = options.hook};
  search.token_rules.repetition_penalty = options.sampling.repetition_penalty;
  search.token_rules.no_repeat_ngram = options.sampling.no_repeat_ngram;
  if (options.rules == models::SearchRules::heed) {
    std::vector<int>& suppressed = search.token_rules.suppressed;
    for (const int token : tokens_without_text(tokens)) suppressed.push_back(token);
  }
  return search;
}

GeneratedText text_of(const Hypothesis& hypothesis, text::TextStream stream,
                      const text::SpecialTokens& special, const GenerationOptions& options) {
  const bool has_ended = hypothesis.log_probabilities.size() > hypothesis.ids.size();
  GeneratedText result{.text = options.prefix,
                       .ending = has_ended ? Ending::end_token : Ending::length,
                       .missing = options.constraints.missing_words(hypothesis.ids)};
  StopText stop(options.stop);
  for (std::size_t i = 0; i < hypothesis.log_probabilities.size(); ++i) {
    const int token = i < hypothesis.ids.size() ? hypothesis.ids[i] : special.end();
    result.tokens.push_back({token, hypothesis.log_probabilities[i]});
    result.text += stop.add(stream.add(token));
    if (!stop.is_stopped()) continue;
    result.ending = Ending::stop_text;
    return result;
  }
  result.text += stop.add(stream.finish());
  if (!stop.is_stopped()) result.text += stop.finish();
  return result;
}

}  // namespace

std::vector<GeneratedText> beam_texts(const TextGenerator& generator,
                                      std::span<const std::vector<int>> prompts,
                                      std::span<const Index> limits,
                                      const GenerationOptions& options) {
  check_options(options);
  const text::SpecialTokens tokens = options.tokens.value_or(generator.model().config().tokens);
  const auto found =
      beam_search(generator.model(), models::pack(prompts), search_of(options, tokens), limits);
  std::vector<GeneratedText> texts;
  for (std::size_t number = 0; number < found.size(); ++number) {
    const std::vector<Hypothesis>& hypotheses = found[number];
    const auto stream = text::TextStream::after(prompts[number], generator.tokenizer());
    for (Index sample = 0; sample < options.num_samples; ++sample) {
      // There may be fewer than asked for: the last one stands for the others.
      const std::size_t rank = std::min(static_cast<std::size_t>(sample), hypotheses.size() - 1);
      texts.push_back(text_of(hypotheses[rank], stream, tokens, options));
    }
  }
  return texts;
}

}  // namespace heed::infer
