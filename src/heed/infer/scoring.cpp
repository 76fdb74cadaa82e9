#include "heed/infer/scoring.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/data/batch_plan.h"
#include "heed/infer/token_limit.h"
#include "heed/text/encode_lines.h"

namespace heed::infer {
namespace {

// Rows of logits that exist at one time.
constexpr Index rows_at_once = 48;

// Teacher forcing: what the model reads, and after each token the one that follows it.
struct Sequence {
  std::vector<int> source = {};  // with its end; empty for a language model
  std::vector<int> input;
  std::vector<int> next;
  bool is_truncated = false;

  Index cost() const { return std::ssize(source) + std::ssize(input); }
};

// The decoder's input and output for ids between two tokens.
Sequence teacher_forced(std::span<const int> ids, int start, int end) {
  Sequence sequence{.input = {start}, .next = {ids.begin(), ids.end()}};
  sequence.input.insert(sequence.input.end(), ids.begin(), ids.end());
  sequence.next.push_back(end);
  return sequence;
}

TokenLimit limit_of(const char* what, Index max_tokens, const ScoringOptions& options) {
  return {.max_tokens = max_tokens, .what = what, .cut = Cut::end, .truncate = options.truncate};
}

void check_line_numbers(const ScoringOptions& options, std::size_t count) {
  check(options.line_numbers.empty() || options.line_numbers.size() == count,
        "scoring: expected a number for each of ", count, " lines, got ",
        options.line_numbers.size());
}

Index line_number(std::size_t line, const ScoringOptions& options) {
  return options.line_numbers.empty() ? options.first_line + static_cast<Index>(line)
                                      : options.line_numbers[line];
}

models::PackedIds pack_sequences(std::span<const Sequence> batch, std::vector<int> Sequence::*ids) {
  std::vector<std::span<const int>> sequences;
  for (const Sequence& sequence : batch) sequences.push_back(sequence.*ids);
  return models::pack(sequences);
}

// The log-probabilities of the tokens that follow rows of hidden [N, D].
template <typename Model>
std::vector<TokenScore> score_tokens(const Model& model, const Tensor& hidden,
                                     std::span<const int> next) {
  const Index num_rows = hidden.dim(0), dim = hidden.dim(1);
  std::vector<TokenScore> scores(next.size());
  for (Index first = 0; first < num_rows; first += rows_at_once) {
    const Index count = std::min(rows_at_once, num_rows - first);
    const Tensor logits =
        model.logits(Tensor::from(hidden.values().subspan(first * dim, count * dim), {count, dim}));
    const Index width = logits.dim(-1);
    parallel_for(count, [&](Index row) {
      const int token = next[first + row];
      const auto all = LogProbabilities::of_logits(logits.values().subspan(row * width, width));
      check_as(ErrorKind::model, std::isfinite(all[token]),
               "model: expected a finite log-probability of every token, found ", all[token]);
      scores[first + row] = {token, all[token]};
    });
  }
  return scores;
}

// hidden_of(batch) -> [N, D]. Whole batches in parallel, as in Translator::translate.
template <typename Model, typename HiddenOf>
std::vector<ScoredLine> score_all(const Model& model, std::span<const Sequence> sequences,
                                  Index batch_tokens, HiddenOf hidden_of) {
  std::vector<ScoredLine> lines(sequences.size());
  const auto batches = data::batches_in_order(
      sequences, batch_tokens, [](const Sequence& sequence) { return sequence.cost(); });
  parallel_for(std::ssize(batches), [&](Index number) {
    const NoGrad no_grad;
    const std::span<const Sequence> batch = batches[number];
    const std::vector<TokenScore> scores =
        score_tokens(model, hidden_of(batch), pack_sequences(batch, &Sequence::next).ids);
    auto begin = scores.begin();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      ScoredLine& line = lines[batch.data() + i - sequences.data()];
      line.tokens.assign(begin, begin + std::ssize(batch[i].next));
      line.is_truncated = batch[i].is_truncated;
      begin += std::ssize(batch[i].next);
    }
  });
  return lines;
}

}  // namespace

double ScoredLine::log_probability() const {
  double sum = 0;
  for (const TokenScore& token : tokens) sum += token.log_probability;
  return sum;
}

double ScoredLine::mean_log_probability() const {
  return log_probability() / static_cast<double>(tokens.size());
}

LineScorer LineScorer::load(const std::string& folder, std::optional<WeightFormat> weights) {
  models::LanguageModelFolder loaded = models::load_model_folder<models::LanguageModel>(
      folder, {.for_inference = true, .weights = weights});
  return LineScorer(std::move(loaded.model), std::move(loaded.tokenizer));
}

LineScorer::LineScorer(models::LanguageModel model, text::Tokenizer tokenizer)
    : model_(std::move(model)), tokenizer_(std::move(tokenizer)) {}

ScoredLine LineScorer::score(std::string_view line) const {
  const std::string text(line);
  return std::move(score(std::span(&text, 1)).front());
}

std::vector<ScoredLine> LineScorer::score(std::span<const std::string> lines,
                                          const ScoringOptions& options) const {
  check_line_numbers(options, lines.size());
  const std::vector<int> line_end = tokenizer_.encode("\n");
  check_as(ErrorKind::model, !line_end.empty(),
           "tokenizer: expected a token for the end of a line, found none");
  const TokenLimit limit =
      limit_of("a line end and a text", model_.config().max_positions, options);
  const std::vector<std::vector<int>> encoded = text::encode_lines(lines, tokenizer_);
  std::vector<Sequence> sequences;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    Sequence sequence = teacher_forced(encoded[i], line_end.back(), line_end.back());
    const Index line = line_number(i, options);
    sequence.is_truncated = fit(sequence.input, line, limit);
    sequence.next.resize(sequence.input.size());
    sequences.push_back(std::move(sequence));
  }
  return score_all(model_, sequences, options.batch_tokens, [&](std::span<const Sequence> batch) {
    auto context = nn::ForwardContext::inference(nullptr, options.hook);
    return model_.hidden(pack_sequences(batch, &Sequence::input), context);
  });
}

PairScorer PairScorer::load(const std::string& folder, std::optional<WeightFormat> weights) {
  models::TranslationModelFolder loaded = models::load_model_folder<models::TranslationModel>(
      folder, {.for_inference = true, .weights = weights});
  return PairScorer(std::move(loaded.model), std::move(loaded.tokenizer));
}

PairScorer::PairScorer(models::TranslationModel model, text::Tokenizer tokenizer)
    : model_(std::move(model)), tokenizer_(std::move(tokenizer)) {}

ScoredLine PairScorer::score(std::string_view source, std::string_view target) const {
  const std::string source_text(source), target_text(target);
  return std::move(score(std::span(&source_text, 1), std::span(&target_text, 1)).front());
}

std::vector<ScoredLine> PairScorer::score(std::span<const std::string> sources,
                                          std::span<const std::string> targets,
                                          const ScoringOptions& options) const {
  check(sources.size() == targets.size(), "scoring: expected a target for each of ", sources.size(),
        " sources, got ", targets.size());
  check_line_numbers(options, sources.size());
  const Index limit = max_text_tokens(model_.config());
  const text::SequenceTemplate& source_form = tokenizer_.sequence();
  TokenLimit source_limit = infer::source_limit(model_.config(), "a source", options.truncate);
  source_limit.max_tokens -= source_form.num_added() - 1;  // one is counted already
  const TokenLimit target_limit = limit_of("a start and a target", limit, options);
  std::vector<std::vector<int>> encoded_sources = text::encode_lines(sources, tokenizer_);
  const std::vector<std::vector<int>> encoded_targets =
      text::encode_lines(targets, tokenizer_, text::LineForm::output);
  const text::SpecialTokens& tokens = model_.config().tokens;
  std::vector<Sequence> sequences;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    std::span<const int> target(encoded_targets[i]);
    if (!target.empty()) target = target.first(target.size() - 1);  // without its end
    Sequence sequence = teacher_forced(target, tokens.decoder_start, tokens.end());
    const Index line = line_number(i, options);
    std::vector<int>& source = encoded_sources[i];
    const bool is_source_truncated = fit(source, line, source_limit);
    sequence.source = source_form.single(source);
    sequence.is_truncated = fit(sequence.input, line, target_limit) || is_source_truncated;
    sequence.next.resize(sequence.input.size());
    sequences.push_back(std::move(sequence));
  }
  return score_all(model_, sequences, options.batch_tokens, [&](std::span<const Sequence> batch) {
    auto context = nn::ForwardContext::inference(nullptr, options.hook);
    const Packed memory = model_.encode(pack_sequences(batch, &Sequence::source), context);
    return model_.decode(pack_sequences(batch, &Sequence::input), memory, context);
  });
}

}  // namespace heed::infer
