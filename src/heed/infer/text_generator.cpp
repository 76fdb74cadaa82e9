#include "heed/infer/text_generator.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/infer/stop_text.h"
#include "heed/infer/token_limit.h"
#include "heed/models/model_folder.h"
#include "heed/text/text_stream.h"

namespace heed::infer {
namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

// One text while it is written.
struct Sequence {
  std::size_t number;     // among the results
  std::uint64_t chance;   // whose random numbers it draws
  std::vector<int> ids;   // of the prompt, then of the text
  std::vector<int> text;  // the text's alone: of the prefix, then those that were chosen
  std::size_t begin = 0;  // the first that the model still sees
  text::TextStream stream;
  StopText stop;
  GeneratedText written = {};
  bool is_finished = false;

  std::span<const int> visible() const { return std::span(ids).subspan(begin); }

  void forget_more_than(std::size_t context) {
    if (ids.size() - begin > context) begin = ids.size() - std::max<std::size_t>(1, context / 2);
  }
};

// Some rows of a matrix, in any order and any number of times.
Tensor rows_of(const Tensor& matrix, std::span<const Index> rows) {
  const Index dim = matrix.dim(-1);
  Tensor picked = Tensor::empty({std::ssize(rows), dim});
  for (Index i = 0; i < std::ssize(rows); ++i) {
    std::ranges::copy(matrix.values().subspan(rows[i] * dim, dim), picked.data() + i * dim);
  }
  return picked;
}

std::vector<Index> last_rows(const Spans& spans) {
  std::vector<Index> rows;
  for (const Span& span : spans) rows.push_back(span.begin + span.length - 1);
  return rows;
}

// All texts, step by step. Rows of the cache are the drafts that are not finished, in their order.
class Writing {
 public:
  Writing(const models::LanguageModel& model, std::vector<Sequence> sequences,
          const GenerationOptions& options, const TextGenerator::OnText& on_text)
      : model_(model),
        options_(options),
        on_text_(on_text),
        sampler_(options.sampling, options.seed),
        sequences_(std::move(sequences)),
        cache_(model.start(0)),
        context_(nn::ForwardContext::inference(nullptr, options.hook)) {
    for (Sequence& sequence : sequences_) live_.push_back(&sequence);
  }

  std::vector<GeneratedText> run() {
    Tensor hidden = read_prompts();  // [live, D], behind each draft's last token
    while (true) {
      choose_tokens(hidden);
      const std::vector<Index> rows = drop_finished();
      if (live_.empty()) break;
      hidden = read_on(rows);
    }
    std::vector<GeneratedText> texts;
    for (Sequence& sequence : sequences_) texts.push_back(std::move(sequence.written));
    return texts;
  }

 private:
  // The samples of a prompt read it once.
  Tensor read_prompts() {
    std::vector<std::span<const int>> prompts;
    std::vector<Index> rows;  // of each draft
    for (std::size_t i = 0; i < live_.size(); ++i) {
      if (i % options_.num_samples == 0) prompts.push_back(live_[i]->visible());
      rows.push_back(std::ssize(prompts) - 1);
    }
    cache_ = model_.start(std::ssize(prompts));
    const Tensor hidden = advance(models::pack(prompts));
    cache_.reorder(rows);
    return rows_of(hidden, rows);
  }

  // Reads what was chosen last. `rows`: those of the cache that go on.
  Tensor read_on(const std::vector<Index>& rows) {
    bool is_full = false;
    for (Sequence* sequence : live_) {
      const std::size_t begin = sequence->begin;
      sequence->forget_more_than(static_cast<std::size_t>(model_.config().max_positions));
      is_full = is_full || sequence->begin != begin;
    }
    std::vector<std::span<const int>> unread;
    for (const Sequence* sequence : live_) {
      unread.push_back(is_full ? sequence->visible() : sequence->visible().last(1));
    }
    if (is_full) {
      // With or without a cache the bits are the same, so that all may begin anew.
      cache_ = model_.start(std::ssize(live_));
    } else {
      cache_.reorder(rows);
    }
    return advance(models::pack(unread));
  }

  // -> [sequences, D], the last row of each
  Tensor advance(const models::PackedIds& input) {
    return rows_of(model_.step(input, cache_, context_), last_rows(input.spans));
  }

  void choose_tokens(const Tensor& hidden) {
    Tensor logits = model_.logits(hidden);  // [live, V]
    const std::size_t width = logits.dim(-1);
    const std::span<float> values(logits.data(), logits.size());
    parallel_for(std::ssize(live_),
                 [&](Index row) { choose_token(*live_[row], values.subspan(row * width, width)); });
    for (Sequence* sequence : live_) tell(*sequence);
  }

  void choose_token(Sequence& sequence, std::span<float> logits) const {
    const TokenScore chosen = next_token(sequence, logits);
    sequence.ids.push_back(chosen.token);
    sequence.text.push_back(chosen.token);
    sequence.written.tokens.push_back(chosen);
  }

  TokenScore next_token(const Sequence& sequence, std::span<float> logits) const {
    suppress_special_tokens(logits);
    // What follows changes the logits, and the score is the model's own.
    const auto own = LogProbabilities::of_logits(logits);
    options_.constraints.forbid(logits, sequence.ids);
    const bool is_forced = force_required(sequence, logits);
    const std::vector<TokenLogit> before =
        is_forced ? std::vector<TokenLogit>{} : sampler_.penalise(logits, sequence.ids);
    const bool may_end = is_forced || options_.constraints.num_missing(sequence.text) == 0;
    const int token = may_end ? draw(sequence, logits) : draw_what_goes_on(sequence, logits);
    const auto changed = std::ranges::lower_bound(before, token, {}, &TokenLogit::token);
    const bool is_changed = changed != before.end() && changed->token == token;
    return {token, own.of_logit(is_changed ? changed->logit : logits[token])};
  }

  // Leaves only what must come now so that the required words still fit in, if there is such.
  bool force_required(const Sequence& sequence, std::span<float> logits) const {
    if (!options_.constraints.has_required()) return false;
    const Index room = options_.max_tokens - std::ssize(sequence.written.tokens);
    std::vector<TokenLogit> forced;
    for (const int token : options_.constraints.required_next(sequence.text, room)) {
      if (logits[token] > minus_infinity) forced.push_back({token, logits[token]});
    }
    if (forced.empty()) return false;
    std::ranges::fill(logits, minus_infinity);
    for (const TokenLogit& one : forced) logits[one.token] = one.logit;
    return true;
  }

  int draw(const Sequence& sequence, std::span<const float> logits) const {
    return sampler_.draw(logits, sequence.ids.size(), sequence.chance);
  }

  // A token that does not end the text.
  int draw_what_goes_on(const Sequence& sequence, std::span<float> logits) const {
    logits[text::Tokenizer::end] = minus_infinity;
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

  void tell(Sequence& sequence) const {
    const int token = sequence.ids.back();
    const bool has_ended = token == text::Tokenizer::end;
    const bool is_long = std::ssize(sequence.written.tokens) >= options_.max_tokens;
    std::string part = sequence.stop.add(sequence.stream.add(token));
    if (has_ended || is_long) {
      part += sequence.stop.add(sequence.stream.finish());
      if (!sequence.stop.is_stopped()) part += sequence.stop.finish();
    }
    sequence.is_finished = has_ended || is_long || sequence.stop.is_stopped();
    sequence.written.ending = sequence.stop.is_stopped() ? Ending::stop_text
                              : has_ended                ? Ending::end_token
                                                         : Ending::length;
    if (sequence.is_finished)
      sequence.written.missing = options_.constraints.missing_words(sequence.text);
    sequence.written.text += part;
    if (on_text_ && !part.empty()) on_text_(sequence.number, part);
  }

  // The rows of those that go on.
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
  Sampler sampler_;
  std::vector<Sequence> sequences_;
  std::vector<Sequence*> live_;
  nn::StackCache cache_;
  nn::ForwardContext context_;
};

void check_options(const GenerationOptions& options) {
  check_as(ErrorKind::usage, options.max_tokens >= 1,
           "--max-tokens: expected a number of at least 1, found ", options.max_tokens);
  check_as(ErrorKind::usage, options.num_samples >= 1,
           "--n: expected a number of at least 1, found ", options.num_samples);
}

// `prefix`: its tokens.
void check_required(const GenerationOptions& options, std::span<const int> prefix,
                    const text::Tokenizer& tokenizer) {
  const Index needed = options.constraints.num_needed(prefix);
  check_as(ErrorKind::usage, needed <= options.max_tokens,
           "--require: expected words that fit into --max-tokens ", options.max_tokens,
           ", found words of ", needed, " tokens");
  for (const TokenSequence& sequence : options.constraints.required()) {
    const std::string word = tokenizer.decode(sequence);
    for (const std::string& stop : options.stop) {
      check_as(ErrorKind::usage, stop.empty() || word.find(stop) == word.npos,
               "--require: expected words that do not end the text, found '", word,
               "' with --stop '", stop, "'");
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

void suppress_special_tokens(std::span<float> logits) {
  for (const int token : {text::Tokenizer::pad, text::Tokenizer::unknown, text::Tokenizer::begin}) {
    logits[token] = minus_infinity;
  }
}

TextGenerator TextGenerator::load(const std::string& folder) {
  models::LanguageModelFolder loaded = models::load_model_folder<models::LanguageModel>(folder);
  return TextGenerator(models::pack(loaded.model), std::move(loaded.tokenizer));
}

TextGenerator::TextGenerator(models::LanguageModel model, text::Tokenizer tokenizer)
    : model_(std::move(model)), tokenizer_(std::move(tokenizer)) {}

std::vector<int> TextGenerator::prompt_ids(const std::string& prompt, Index number,
                                           const GenerationOptions& options) const {
  const std::string text = prompt + options.prefix;
  std::vector<int> ids = tokenizer_.encode(text.empty() ? "\n" : text);
  fit(ids, number,
      {.max_tokens = model_.config().max_positions,
       .what = "a text",
       .unit = "prompt",
       .cut = Cut::beginning,
       .truncate = options.truncate});
  return ids;
}

std::vector<GeneratedText> TextGenerator::generate(std::span<const std::string> prompts,
                                                   const GenerationOptions& options,
                                                   const OnText& on_text) const {
  check_options(options);
  const std::vector<int> prefix = tokenizer_.encode(options.prefix);
  check_required(options, prefix, tokenizer_);
  std::vector<Sequence> sequences;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const Index number = options.first_prompt + static_cast<Index>(i);
    const std::vector<int> ids = prompt_ids(prompts[i], number, options);
    for (Index sample = 0; sample < options.num_samples; ++sample) {
      const auto chance =
          random_key(0, static_cast<std::uint64_t>(number), static_cast<std::uint64_t>(sample));
      sequences.push_back({.number = sequences.size(),
                           .chance = chance,
                           .ids = ids,
                           .text = prefix,
                           .stream = text::TextStream(tokenizer_, /*goes_on=*/true),
                           .stop = StopText(options.stop)});
      sequences.back().written.text = options.prefix;
      if (on_text && !options.prefix.empty()) on_text(sequences.back().number, options.prefix);
    }
  }
  if (sequences.empty()) return {};
  const NoGrad no_grad;
  return Writing(model_, std::move(sequences), options, on_text).run();
}

}  // namespace heed::infer
