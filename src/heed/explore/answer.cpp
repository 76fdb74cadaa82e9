#include "heed/explore/answer.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/explore/finite_outcome.h"
#include "heed/explore/recording.h"
#include "heed/infer/text_generator.h"
#include "heed/infer/token_limit.h"
#include "heed/infer/top_tokens.h"
#include "heed/text/encode_words.h"
#include "heed/text/lines.h"
#include "heed/text/masked_text.h"

namespace heed::explore {
namespace {

using nlohmann::json;

constexpr std::string_view mask_text = text::Tokenizer::mask_piece;  // as in heed fill
constexpr Index num_next = 20;       // tokens that may follow a prompt
constexpr Index num_continued = 20;  // tokens of a greedy continuation
constexpr Index num_mask_candidates = 20;

void check_characters(const std::string& text) {
  check_as(ErrorKind::data, is_valid_utf8(text), "text: expected UTF-8, found other bytes");
  const auto begins = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; };
  const auto count = static_cast<std::size_t>(std::ranges::count_if(text, begins));
  check_as(ErrorKind::data, count <= max_text_characters, "text: expected at most ",
           max_text_characters, " characters, found ", count);
}

void check_tokens(const char* what, const std::vector<int>& ids) {
  check_as(ErrorKind::data, ids.size() <= max_text_tokens, what, ": expected at most ",
           max_text_tokens, " tokens, found ", ids.size());
}

void check_not_blank(const std::string& text) {
  check_as(ErrorKind::data, !text::is_blank(text), "text: expected a sentence, found a blank one");
}

// What is shown of a class is its share of a softmax over all, for one text.
void check_problem(const models::TransformerConfig& config) {
  check_as(ErrorKind::usage, config.problem_type == ProblemType::single_label,
           "explore: expected a classifier of one label for each text, found ",
           name_of(config.problem_type));
  check_as(ErrorKind::usage, !config.text_pairs,
           "explore: expected a classifier of single texts, found one of pairs of texts");
}

std::vector<int> encode(const ModelSession& session, const std::string& text) {
  const text::Tokenizer& tokenizer = session.tokenizer();
  if (session.language()) return tokenizer.encode(text);
  check_not_blank(text);
  if (session.tagger()) {
    std::vector<int> ids = text::encode_words(text::split_words(text), tokenizer).ids;
    const text::SequenceTemplate& sequence = tokenizer.sequence();
    return {ids.begin() + std::ssize(sequence.prefix), ids.end() - std::ssize(sequence.suffix)};
  }
  if (!session.masked()) return tokenizer.encode(text);
  const text::MaskedText line = text::encode_masked_text(tokenizer, text, mask_text);
  check_as(ErrorKind::data, !line.masks.empty(), "text: expected a mask ", mask_text,
           ", found none");
  return line.ids;
}

// The most likely tokens after a prompt, without those that a generator never gives.
std::vector<infer::TokenScore> most_likely_next(const ModelSession& session,
                                                const std::string& text,
                                                const nn::Interventions* interventions) {
  const NoGrad no_grad;
  auto context = nn::ForwardContext::inference(nullptr, interventions);
  const PassInput input{.source = source_ids(session, text), .target = {}};
  Tensor logits = teacher_forced_logits(session, input, context);  // [N, V]
  const std::span<float> last = logits.values().last(static_cast<std::size_t>(logits.dim(1)));
  session.text_generator()->suppress_special_tokens(last);
  return infer::top_tokens(infer::LogProbabilities::of_logits(last), num_next, {});
}

Answer translation(const infer::Translator& translator, const std::string& text,
                   const AnswerOptions& options) {
  check_not_blank(text);
  infer::TranslationOptions translation{.search = translator.default_search()};
  if (options.beam_size) translation.search.beam_size = *options.beam_size;
  translation.search.hook = options.interventions;
  infer::TranslatedLine best =
      std::move(translator.translate(std::span(&text, 1), translation).front().best.front());
  Answer answer;
  answer.text = std::move(best.text);
  answer.score = best.score;
  answer.tokens = std::move(best.tokens);
  return answer;
}

Answer continuation(const ModelSession& session, const std::string& text,
                    const AnswerOptions& options) {
  Answer answer;
  answer.next = most_likely_next(session, text, options.interventions);
  infer::GenerationOptions greedy = session.text_generator()->greedy_options(num_continued);
  greedy.hook = options.interventions;
  infer::GeneratedText generated =
      std::move(session.text_generator()->generate(std::span(&text, 1), greedy).front());
  answer.text = std::move(generated.text);
  answer.tokens = std::move(generated.tokens);
  return answer;
}

infer::LineOptions line_options(const AnswerOptions& options) {
  infer::LineOptions lines;
  lines.hook = options.interventions;
  return lines;
}

// NaN is no class and no word: an answer without all of them is no answer.
Answer classes(const infer::LineClassifier& classifier, const std::string& text,
               const AnswerOptions& options) {
  const auto all = std::ssize(classifier.labels());
  Answer answer;
  answer.classes = classifier.classify(std::span(&text, 1), all, line_options(options)).front();
  check_finite_outcome(std::ssize(answer.classes) == all);
  return answer;
}

Answer filled_masks(const infer::FillMask& fill_mask, const std::string& text,
                    const AnswerOptions& options) {
  Answer answer;
  answer.masks =
      fill_mask.fill(std::span(&text, 1), mask_text, num_mask_candidates, line_options(options))
          .front();
  for (const auto& words : answer.masks) check_finite_outcome(!words.empty());
  return answer;
}

Answer tagged_words(const ModelSession& session, const std::string& text,
                    const AnswerOptions& options) {
  Answer answer;
  answer.words = session.line_tagger()->tag(std::span(&text, 1), line_options(options)).front();
  answer.first_tokens =
      text::encode_words(text::split_words(text), session.tokenizer()).first_token;
  return answer;
}

Answer sentence_vector(const infer::SentenceEncoder& encoder, const std::string& text,
                       const AnswerOptions& options) {
  const Tensor vectors = encoder.encode(std::span(&text, 1), line_options(options));  // [1, D]
  Answer answer;
  answer.vector = {vectors.values().begin(), vectors.values().end()};
  return answer;
}

json token_json(const ModelSession& session, const infer::TokenScore& token) {
  return {{"piece", session.tokenizer().piece(token.token)},
          {"log_probability", token.log_probability}};
}

json next_json(const ModelSession& session, const infer::TokenScore& token) {
  return {{"piece", session.tokenizer().piece(token.token)},
          {"id", token.token},
          {"probability", std::exp(double{token.log_probability})}};
}

json mask_json(const std::vector<infer::MaskCandidate>& words) {
  json mask = json::array();
  for (const infer::MaskCandidate& word : words) {
    mask.push_back({{"piece", word.word}, {"probability", word.probability}});
  }
  return mask;
}

json words_json(const Answer& answer) {
  json words = json::array();
  for (std::size_t i = 0; i < answer.words.size(); ++i) {
    const infer::WordTag& word = answer.words[i];
    words.push_back({{"word", word.word},
                     {"tag", word.tag},
                     {"probability", word.probability},
                     {"position", answer.first_tokens[i]}});
  }
  return words;
}

// All numbers of the vector; its length, and how it was made of those of the tokens.
json vector_json(const Answer& answer, const models::TransformerConfig& config) {
  double squares = 0;
  for (const float value : answer.vector) squares += double{value} * value;
  return {{"vector", answer.vector},
          {"length", std::sqrt(squares)},
          {"pooling", name_of(config.pooling)},
          {"normalized", config.normalizes}};
}

template <typename Values, typename ToJson>
json array_of(const Values& values, ToJson value_json) {
  json array = json::array();
  for (const auto& value : values) array.push_back(value_json(value));
  return array;
}

}  // namespace

std::vector<int> source_ids(const ModelSession& session, const std::string& text) {
  check_problem(session.config());
  check_characters(text);
  std::vector<int> ids = encode(session, text);
  if (session.config().truncate_source > 0) {
    infer::fit(ids, 1, infer::source_limit(session.config(), "a text", /*truncate=*/true));
  }
  check_tokens("text", ids);
  const text::SequenceTemplate& sequence = session.tokenizer().sequence();
  if (!session.language()) return sequence.single(ids);
  ids.insert(ids.begin(), sequence.prefix.begin(), sequence.prefix.end());
  return ids.empty() ? infer::empty_prompt(session.tokenizer()) : ids;
}

std::vector<int> target_ids(const ModelSession& session, const std::string& text) {
  std::vector<int> ids = session.tokenizer().encode_target(text);
  check_tokens("target", ids);
  ids.insert(ids.begin(), session.tokenizer().tokens().decoder_start);
  return ids;
}

Answer answer(const ModelSession& session, const std::string& text, const AnswerOptions& options) {
  check_problem(session.config());
  return with_finite_outcome([&] {
    if (session.translator()) return translation(*session.translator(), text, options);
    if (session.text_generator()) return continuation(session, text, options);
    if (session.line_classifier()) return classes(*session.line_classifier(), text, options);
    if (session.sentence_encoder()) {
      return sentence_vector(*session.sentence_encoder(), text, options);
    }
    if (session.line_tagger()) return tagged_words(session, text, options);
    check_as(ErrorKind::usage, session.fill_mask() != nullptr,
             "explore: expected a model that reads text, found one for images");
    return filled_masks(*session.fill_mask(), text, options);
  });
}

std::vector<int> target_inputs(const ModelSession& session, const Answer& translation) {
  const text::SpecialTokens& tokens = session.tokenizer().tokens();
  std::vector<int> ids{tokens.decoder_start};
  for (const infer::TokenScore& token : translation.tokens) ids.push_back(token.token);
  if (ids.size() > 1 && tokens.is_end(ids.back())) ids.pop_back();
  return ids;
}

json to_json(const Answer& answer, const ModelSession& session) {
  const auto token = [&](const infer::TokenScore& one) { return token_json(session, one); };
  const auto next = [&](const infer::TokenScore& one) { return next_json(session, one); };
  const auto of_class = [&](const infer::ClassProbability& one) {
    return json{{"label", session.config().labels[static_cast<std::size_t>(one.of_class)]},
                {"probability", one.probability}};
  };
  switch (session.kind()) {
    case models::ModelKind::translation:
      return {{"text", answer.text},
              {"score", answer.score},
              {"tokens", array_of(answer.tokens, token)}};
    case models::ModelKind::language:
      return {{"text", answer.text},
              {"tokens", array_of(answer.tokens, token)},
              {"next", array_of(answer.next, next)}};
    case models::ModelKind::classifier:
      return {{"classes", array_of(answer.classes, of_class)}};
    case models::ModelKind::tagger:
      return {{"words", words_json(answer)}};
    case models::ModelKind::encoder:
      return vector_json(answer, session.config());
    default:
      return {{"masks", array_of(answer.masks, mask_json)}};
  }
}

}  // namespace heed::explore
