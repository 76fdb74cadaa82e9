#include "heed/explore/answer.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/explore/recording.h"
#include "heed/text/gaps.h"
#include "heed/text/lines.h"
#include "heed/text/utf8.h"

namespace heed::explore {
namespace {

using nlohmann::json;

constexpr std::string_view gap_mark = text::Tokenizer::mask_piece;  // as in heed fill
constexpr Index num_next = 20;       // tokens that may follow a prompt
constexpr Index num_continued = 20;  // tokens that do
constexpr Index num_gap_words = 20;

void check_characters(const std::string& text) {
  check_as(ErrorKind::data, text::is_valid_utf8(text), "text: expected UTF-8, found other bytes");
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

std::vector<int> encoded(const ModelSession& session, const std::string& text) {
  const text::Tokenizer& tokenizer = session.tokenizer();
  if (session.language()) return tokenizer.encode(text.empty() ? "\n" : text);
  check_not_blank(text);
  if (!session.masked()) return tokenizer.encode(text);
  const text::GappedLine line = text::encode_gaps(tokenizer, text, gap_mark);
  check_as(ErrorKind::data, !line.gaps.empty(), "text: expected a gap ", gap_mark, ", found none");
  return line.ids;
}

// The last row of the logits after a prompt, without tokens that a text writer never writes.
std::vector<generate::TokenScore> most_likely_next(const ModelSession& session,
                                                   const std::string& text,
                                                   const nn::AttentionChanges* changes) {
  const NoRecording no_recording;
  auto context = nn::ForwardContext::inference(nullptr, changes);
  const PassInput input{.source = source_ids(session, text), .target = {}};
  Tensor logits = forced_logits(session, input, context);  // [N, V]
  const std::span<float> last = logits.values().last(static_cast<std::size_t>(logits.dim(1)));
  generate::forbid_unwritten(last);
  return generate::top_tokens(generate::LogProbabilities::of_logits(last), num_next, {});
}

Answer translation(const generate::Translator& translator, const std::string& text,
                   const AnswerOptions& options) {
  check_not_blank(text);
  generate::TranslationOptions translating{.search = translator.default_search()};
  if (options.beam_size) translating.search.beam_size = *options.beam_size;
  translating.search.changes = options.changes;
  generate::TranslatedLine best =
      std::move(translator.translate(std::span(&text, 1), translating).front().best.front());
  Answer answer;
  answer.text = std::move(best.text);
  answer.score = best.score;
  answer.tokens = std::move(best.tokens);
  return answer;
}

Answer continuation(const ModelSession& session, const std::string& text,
                    const AnswerOptions& options) {
  generate::WritingOptions writing;
  writing.sampling.temperature = 0;
  writing.max_tokens = num_continued;
  writing.changes = options.changes;
  generate::WrittenText written =
      std::move(session.text_writer()->write(std::span(&text, 1), writing).front());
  Answer answer;
  answer.text = std::move(written.text);
  answer.tokens = std::move(written.tokens);
  answer.next = most_likely_next(session, text, options.changes);
  return answer;
}

json token_json(const ModelSession& session, const generate::TokenScore& token) {
  return {{"piece", session.tokenizer().piece(token.token)},
          {"log_probability", token.log_probability}};
}

json next_json(const ModelSession& session, const generate::TokenScore& token) {
  return {{"piece", session.tokenizer().piece(token.token)},
          {"id", token.token},
          {"probability", std::exp(double{token.log_probability})}};
}

json gap_json(const std::vector<generate::GapWord>& words) {
  json gap = json::array();
  for (const generate::GapWord& word : words) {
    gap.push_back({{"piece", word.word}, {"probability", word.probability}});
  }
  return gap;
}

template <typename Values, typename ToJson>
json array_of(const Values& values, ToJson value_json) {
  json array = json::array();
  for (const auto& value : values) array.push_back(value_json(value));
  return array;
}

}  // namespace

std::vector<int> source_ids(const ModelSession& session, const std::string& text) {
  check_characters(text);
  std::vector<int> ids = encoded(session, text);
  check_tokens("text", ids);
  if (!session.language()) ids.push_back(text::Tokenizer::end);
  return ids;
}

std::vector<int> target_ids(const ModelSession& session, const std::string& text) {
  std::vector<int> ids = session.tokenizer().encode(text);
  check_tokens("target", ids);
  ids.insert(ids.begin(), text::Tokenizer::end);
  return ids;
}

Answer answer(const ModelSession& session, const std::string& text, const AnswerOptions& options) {
  if (const auto* translator = session.translator()) return translation(*translator, text, options);
  if (session.text_writer()) return continuation(session, text, options);
  generate::LineOptions lines;
  lines.changes = options.changes;
  Answer answer;
  if (const auto* classifier = session.line_classifier()) {
    const auto all = static_cast<Index>(classifier->labels().size());
    answer.classes = classifier->classify(std::span(&text, 1), all, lines).front();
    return answer;
  }
  check_as(ErrorKind::usage, session.gap_filler() != nullptr,
           "explore: expected a model that reads text, found one for images");
  answer.gaps =
      session.gap_filler()->fill(std::span(&text, 1), gap_mark, num_gap_words, lines).front();
  return answer;
}

std::vector<int> target_inputs(const Answer& translation) {
  std::vector<int> ids{text::Tokenizer::end};
  for (const generate::TokenScore& token : translation.tokens) ids.push_back(token.token);
  if (ids.size() > 1 && ids.back() == text::Tokenizer::end) ids.pop_back();
  return ids;
}

json to_json(const Answer& answer, const ModelSession& session) {
  const auto token = [&](const generate::TokenScore& one) { return token_json(session, one); };
  const auto next = [&](const generate::TokenScore& one) { return next_json(session, one); };
  const auto of_class = [&](const generate::ClassProbability& one) {
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
    default:
      return {{"gaps", array_of(answer.gaps, gap_json)}};
  }
}

}  // namespace heed::explore
