#include "heed/infer/text_generator.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/infer/generation_options.h"
#include "heed/infer/sampling.h"
#include "heed/infer/stop_text.h"
#include "heed/infer/text_beams.h"
#include "heed/infer/token_limit.h"
#include "heed/infer/token_rules.h"
#include "heed/infer/top_tokens.h"
#include "heed/models/language_model.h"
#include "heed/models/model_folder.h"
#include "heed/ops/embedding.h"
#include "heed/text/text_stream.h"

namespace heed::infer {
namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

// One text while it is generated.
struct Sequence {
  std::size_t number;     // among the results
  std::uint64_t random;   // the key of its random numbers
  std::vector<int> ids;   // of the prompt, then of the text
  std::vector<int> text;  // without the prompt: of the prefix, then those that were chosen
  Index num_prompt = 0;   // of the ids
  Index max_tokens = 0;   // of the text
  std::size_t begin = 0;  // the first id in the model's context
  text::TextStream stream;
  StopText stop;
  GeneratedText result = {};
  bool is_finished = false;

  std::span<const int> visible() const { return std::span(ids).subspan(begin); }

  void fit_context(std::size_t context) {
    if (ids.size() - begin > context) begin = ids.size() - std::max<std::size_t>(1, context / 2);
  }
};

std::vector<Index> last_rows(const Spans& spans) {
  std::vector<Index> rows;
  for (const Span& span : spans) rows.push_back(span.begin + span.length - 1);
  return rows;
}

// All texts, step by step. Rows of the cache are the sequences that are not finished, in their
// order.
class GenerationLoop {
 public:
  GenerationLoop(const models::LanguageModel& model, std::vector<Sequence> sequences,
                 const GenerationOptions& options, const TextGenerator::OnText& on_text)
      : model_(model),
        options_(options),
        on_text_(on_text),
        tokens_(options.tokens.value_or(model.config().tokens)),
        has_rules_(has_any(options.token_rules)),
        sampler_(options.sampling, options.seed),
        sequences_(std::move(sequences)),
        cache_(model.start(0)),
        context_(nn::ForwardContext::inference(nullptr, options.hook)) {
    for (Sequence& sequence : sequences_) live_.push_back(&sequence);
  }

  std::vector<GeneratedText> run() {
    Tensor hidden = read_prompts();  // [live, D], after the last token of each sequence
    while (true) {
      choose_tokens(hidden);
      const std::vector<Index> rows = drop_finished();
      if (live_.empty()) break;
      hidden = read_new_tokens(rows);
    }
    std::vector<GeneratedText> texts;
    for (Sequence& sequence : sequences_) texts.push_back(std::move(sequence.result));
    return texts;
  }

 private:
  // The samples of a prompt read it once.
  Tensor read_prompts() {
    std::vector<std::span<const int>> prompts;
    std::vector<Index> rows;  // of each sequence
    for (std::size_t i = 0; i < live_.size(); ++i) {
      if (i % options_.num_samples == 0) prompts.push_back(live_[i]->visible());
      rows.push_back(std::ssize(prompts) - 1);
    }
    cache_ = model_.start(std::ssize(prompts));
    const Tensor hidden = step(models::pack(prompts));
    cache_.reorder(rows);
    return ops::gather_rows(hidden, rows);
  }

  // The forward pass over the tokens chosen last. `rows`: those of the cache that are still live.
  Tensor read_new_tokens(const std::vector<Index>& rows) {
    bool is_full = false;
    for (Sequence* sequence : live_) {
      const std::size_t begin = sequence->begin;
      sequence->fit_context(static_cast<std::size_t>(model_.config().max_positions));
      is_full = is_full || sequence->begin != begin;
    }
    std::vector<std::span<const int>> unread;
    for (const Sequence* sequence : live_) {
      unread.push_back(is_full ? sequence->visible() : sequence->visible().last(1));
    }
    if (is_full) {
      // With or without a cache the bits are the same, so all can start with an empty one.
      cache_ = model_.start(std::ssize(live_));
    } else {
      cache_.reorder(rows);
    }
    return step(models::pack(unread));
  }

  // -> [sequences, D], the last row of each
  Tensor step(const models::PackedIds& input) {
    return ops::gather_rows(model_.step(input, cache_, context_), last_rows(input.spans));
  }

  void choose_tokens(const Tensor& hidden) {
    Tensor logits = model_.logits(hidden);  // [live, V]
    const std::size_t width = logits.dim(-1);
    const std::span<float> values(logits.data(), logits.size());
    parallel_for(std::ssize(live_),
                 [&](Index row) { choose_token(*live_[row], values.subspan(row * width, width)); });
    for (Sequence* sequence : live_) add_to_text(*sequence);
  }

  void choose_token(Sequence& sequence, std::span<float> logits) const {
    const TokenScore chosen = next_token(sequence, logits);
    sequence.ids.push_back(chosen.token);
    sequence.text.push_back(chosen.token);
    sequence.result.tokens.push_back(chosen);
  }

  TokenScore next_token(const Sequence& sequence, std::span<float> logits) const {
    if (options_.rules == models::SearchRules::heed) suppress_special_tokens(logits, tokens_);
    // The score is the model's own, before constraints, penalties and rules change the logits.
    const auto own = LogProbabilities::of_logits(logits);
    const std::vector<float> unruled(logits.begin(), has_rules_ ? logits.end() : logits.begin());
    options_.constraints.forbid(logits, sequence.ids);
    const bool must_be_required = keep_only_required(sequence, logits);
    const std::vector<TokenLogit> before =
        must_be_required ? std::vector<TokenLogit>{} : penalise(sequence, logits);
    const bool may_end = must_be_required || must_end(sequence) ||
                         options_.constraints.num_missing(sequence.text) == 0;
    const int token = may_end ? draw(sequence, logits) : draw_without_ending(sequence, logits);
    if (has_rules_) return {token, own.of_logit(unruled[token])};
    const auto penalised = std::ranges::lower_bound(before, token, {}, &TokenLogit::token);
    const bool is_penalised = penalised != before.end() && penalised->token == token;
    return {token, own.of_logit(is_penalised ? penalised->logit : logits[token])};
  }

  // As Sampler::penalise; then the rules.
  std::vector<TokenLogit> penalise(const Sequence& sequence, std::span<float> logits) const {
    std::vector<TokenLogit> before = sampler_.penalise(logits, sequence.ids);
    if (!has_rules_) return before;
    const std::span<const int> ids(sequence.ids);
    const TokenHistory history{ids, sequence.num_prompt, ids.first(sequence.num_prompt),
                               sequence.max_tokens};
    apply_rules(logits, history, options_.token_rules, tokens_);
    return before;
  }

  bool must_end(const Sequence& sequence) const {
    return !options_.token_rules.forced_ends.empty() && num_left(sequence) == 1;
  }

  static Index num_left(const Sequence& sequence) {
    return sequence.max_tokens - std::ssize(sequence.result.tokens);
  }

  // Masks all tokens but those that must come now so that the required words still fit in, if there
  // are such.
  bool keep_only_required(const Sequence& sequence, std::span<float> logits) const {
    if (!options_.constraints.has_required()) return false;
    std::vector<TokenLogit> required;
    for (const int token : options_.constraints.required_next(sequence.text, num_left(sequence))) {
      if (logits[token] > minus_infinity) required.push_back({token, logits[token]});
    }
    if (required.empty()) return false;
    std::ranges::fill(logits, minus_infinity);
    for (const TokenLogit& one : required) logits[one.token] = one.logit;
    return true;
  }

  int draw(const Sequence& sequence, std::span<const float> logits) const {
    return sampler_.draw(logits, sequence.ids.size(), sequence.random);
  }

  // A token that does not end the text.
  int draw_without_ending(const Sequence& sequence, std::span<float> logits) const {
    for (const int end : tokens_.ends) logits[end] = minus_infinity;
    int token = draw(sequence, logits);
    while (would_stop(sequence, token)) {
      logits[token] = minus_infinity;
      token = draw(sequence, logits);
    }
    return token;
  }

  static bool would_stop(const Sequence& sequence, int token) {
    text::TextStream stream = sequence.stream;
    StopText stop = sequence.stop;
    stop.add(stream.add(token));
    return stop.is_stopped();
  }

  void add_to_text(Sequence& sequence) const {
    const int token = sequence.ids.back();
    const bool has_ended = tokens_.is_end(token);
    const bool is_long = num_left(sequence) <= 0;
    std::string part = sequence.stop.add(sequence.stream.add(token));
    if (has_ended || is_long) {
      part += sequence.stop.add(sequence.stream.finish());
      if (!sequence.stop.is_stopped()) part += sequence.stop.finish();
    }
    sequence.is_finished = has_ended || is_long || sequence.stop.is_stopped();
    sequence.result.ending = sequence.stop.is_stopped() ? Ending::stop_text
                             : has_ended                ? Ending::end_token
                                                        : Ending::length;
    if (sequence.is_finished)
      sequence.result.missing = options_.constraints.missing_words(sequence.text);
    sequence.result.text += part;
    if (on_text_ && !part.empty()) on_text_(sequence.number, part);
  }

  // The rows of the sequences that stay.
  std::vector<Index> drop_finished() {
    std::vector<Index> rows;
    for (Index row = 0; row < std::ssize(live_); ++row) {
      if (!live_[row]->is_finished) rows.push_back(row);
    }
    std::erase_if(live_, [](const Sequence* sequence) { return sequence->is_finished; });
    return rows;
  }

  const models::LanguageModel& model_;
  const GenerationOptions& options_;
  const TextGenerator::OnText& on_text_;
  text::SpecialTokens tokens_;
  bool has_rules_;
  Sampler sampler_;
  std::vector<Sequence> sequences_;
  std::vector<Sequence*> live_;
  nn::StackCache cache_;
  nn::ForwardContext context_;
};

std::vector<int> prompt_ids(const TextGenerator& generator, const std::string& prompt, Index number,
                            const GenerationOptions& options) {
  const text::Tokenizer& tokenizer = generator.tokenizer();
  const std::vector<int> text = tokenizer.encode(prompt + options.prefix);
  std::vector<int> ids;
  if (options.prepends_begin) ids = tokenizer.sequence().prefix;
  ids.insert(ids.end(), text.begin(), text.end());
  if (ids.empty()) ids = empty_prompt(tokenizer);
  fit(ids, number,
      {.max_tokens = generator.model().config().max_positions,
       .what = "a text",
       .unit = "prompt",
       .cut = Cut::beginning,
       .truncate = options.truncate});
  return ids;
}

Index max_tokens(Index prompt_length, const GenerationOptions& options) {
  if (options.max_length == 0) return options.max_tokens;
  return std::clamp<Index>(options.max_length - prompt_length, 1, options.max_tokens);
}

void check_ids(const GenerationOptions& options, const models::TransformerConfig& config) {
  check_rules(options.token_rules, config.vocabulary);
  const text::SpecialTokens tokens = options.tokens.value_or(config.tokens);
  for (const int end : tokens.ends) {
    check_as(ErrorKind::model, end >= 0 && end < config.vocabulary,
             "special tokens: expected ids below ", config.vocabulary, ", found ", end);
  }
}

void check_options(const GenerationOptions& options) {
  check_as(ErrorKind::usage, options.max_tokens >= 1,
           "`max_tokens`: expected a number of at least 1, found ", options.max_tokens);
  check_as(ErrorKind::usage, options.num_samples >= 1,
           "`num_samples`: expected a number of at least 1, found ", options.num_samples);
  check_as(ErrorKind::usage, options.max_length >= 0,
           "`max_length`: expected a number of at least 0, found ", options.max_length);
}

// `prefix`: its tokens.
void check_required(const GenerationOptions& options, std::span<const int> prefix,
                    const text::Tokenizer& tokenizer) {
  const Index needed = options.constraints.num_needed(prefix);
  check_as(ErrorKind::usage, needed <= options.max_tokens,
           "`require`: expected words that fit into `max_tokens` ", options.max_tokens,
           ", found words of ", needed, " tokens");
  for (const TokenSequence& sequence : options.constraints.required()) {
    const std::string word = tokenizer.decode(sequence);
    for (const std::string& stop : options.stop) {
      check_as(ErrorKind::usage, stop.empty() || word.find(stop) == word.npos,
               "`require`: expected words that do not end the text, found '", word,
               "' with `stop` '", stop, "'");
    }
  }
}

}  // namespace

std::string_view to_string(Ending ending) {
  switch (ending) {
    case Ending::end_token:
      return "end";
    case Ending::stop_text:
      return "stop";
    default:
      return "length";
  }
}

std::vector<int> empty_prompt(const text::Tokenizer& tokenizer) {
  const int begin = tokenizer.tokens().begin;
  if (tokenizer.is_own() || begin == text::SpecialTokens::none) return tokenizer.encode("\n");
  return {begin};
}

TextGenerator TextGenerator::load(const std::string& folder, std::optional<WeightFormat> weights) {
  models::LanguageModelFolder loaded = models::load_model_folder<models::LanguageModel>(
      folder, {.for_inference = true, .weights = weights});
  return TextGenerator(std::move(loaded.model), std::move(loaded.tokenizer), loaded.generation);
}

TextGenerator::TextGenerator(models::LanguageModel model, text::Tokenizer tokenizer)
    : TextGenerator(std::move(model), std::move(tokenizer), models::GenerationConfig{}) {}

TextGenerator::TextGenerator(models::LanguageModel model, text::Tokenizer tokenizer,
                             const models::GenerationConfig& generation)
    : model_(std::make_shared<const models::LanguageModel>(std::move(model))),
      generation_(std::make_shared<const models::GenerationConfig>(generation)),
      tokenizer_(std::move(tokenizer)) {}

GenerationOptions TextGenerator::default_options() const {
  return generation_options(*generation_, model_->config());
}

GenerationOptions TextGenerator::greedy_options(Index max_tokens) const {
  GenerationOptions options = default_options();
  options.sampling = as_greedy(options.sampling);
  options.beam_size = options.num_samples = 1;
  options.max_tokens = max_tokens;
  options.max_length = 0;
  return options;
}

void TextGenerator::suppress_special_tokens(std::span<float> logits) const {
  if (generation_->rules != models::SearchRules::heed) return;
  infer::suppress_special_tokens(logits, model_->config().tokens);
}

std::string TextGenerator::generate(
    std::string_view prompt, const GenerationOptions& options,
    const std::function<void(std::string_view part)>& on_text) const {
  check_as(ErrorKind::usage, options.num_samples == 1, "`num_samples`: expected 1, found ",
           options.num_samples);
  const std::string text(prompt);
  const auto on_part = [&](std::size_t, std::string_view part) {
    if (on_text) on_text(part);
  };
  return generate(std::span(&text, 1), options, on_part).front().text;
}

std::vector<GeneratedText> TextGenerator::generate(std::span<const std::string> prompts,
                                                   const GenerationOptions& options,
                                                   const OnText& on_text) const {
  check_options(options);
  check_ids(options, model_->config());
  const std::vector<int> prefix = tokenizer_.encode(options.prefix);
  check_required(options, prefix, tokenizer_);
  if (options.beam_size > 1) return generate_beams(prompts, options, on_text);
  std::vector<Sequence> sequences;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const Index number = options.first_prompt + static_cast<Index>(i);
    const std::vector<int> ids = prompt_ids(*this, prompts[i], number, options);
    for (Index sample = 0; sample < options.num_samples; ++sample) {
      const auto random =
          random_key(0, static_cast<std::uint64_t>(number), static_cast<std::uint64_t>(sample));
      sequences.push_back({.number = sequences.size(),
                           .random = random,
                           .ids = ids,
                           .text = prefix,
                           .num_prompt = std::ssize(ids),
                           .max_tokens = max_tokens(std::ssize(ids), options),
                           .stream = text::TextStream::after(ids, tokenizer_),
                           .stop = StopText(options.stop)});
      sequences.back().result.text = options.prefix;
      if (on_text && !options.prefix.empty()) on_text(sequences.back().number, options.prefix);
    }
  }
  if (sequences.empty()) return {};
  const NoGrad no_grad;
  return GenerationLoop(*model_, std::move(sequences), options, on_text).run();
}

std::vector<GeneratedText> TextGenerator::generate_beams(std::span<const std::string> prompts,
                                                         const GenerationOptions& options,
                                                         const OnText& on_text) const {
  std::vector<std::vector<int>> ids;
  std::vector<Index> limits;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const Index number = options.first_prompt + static_cast<Index>(i);
    ids.push_back(prompt_ids(*this, prompts[i], number, options));
    limits.push_back(max_tokens(std::ssize(ids.back()), options));
  }
  std::vector<GeneratedText> texts = beam_texts(*this, ids, limits, options);
  for (std::size_t number = 0; on_text && number < texts.size(); ++number) {
    if (!texts[number].text.empty()) on_text(number, texts[number].text);
  }
  return texts;
}

}  // namespace heed::infer
