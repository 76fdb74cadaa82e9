// The answer of a model to a text: the same as on the command line, for models of all kinds.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "heed/explore/model_session.h"
#include "heed/nn/interventions.h"

namespace heed::explore {

// Limits of what is typed into the page.
inline constexpr std::size_t max_text_characters = 4096;
inline constexpr std::size_t max_text_tokens = 1024;
inline constexpr Index max_page_beam_size = 32;  // of models::max_beam_size: the page draws all

// The tokens of a text as the model's own functions take them: with their special tokens,
// except that a language model takes an empty text as infer::empty_prompt says. Refuses
// (ErrorKind::data) blank texts for the others, for a masked model a text without a mask
// (Tokenizer::mask_piece), other bytes than UTF-8, and more characters or tokens than above; and
// (ErrorKind::usage) classifiers of pairs of texts, of several labels, and of numbers.
std::vector<int> source_ids(const ModelSession& session, const std::string& text);

// The input of a teacher-forced decoder: the token that it starts with, then those of the text.
// Refuses more of them than above.
std::vector<int> target_ids(const ModelSession& session, const std::string& text);

struct AnswerOptions {
  const nn::Interventions* interventions = nullptr;  // null: the model as it is
  std::optional<Index> beam_size = std::nullopt;     // of a translation; the model's own otherwise
};

// One of these, by the kind of the model.
struct Answer {
  // A translation, or the greedy continuation of a prompt.
  std::string text;
  double score = 0;                       // log-probability of a translation
  std::vector<infer::TokenScore> tokens;  // of a translation with the end token last

  std::vector<infer::TokenScore> next;                   // after a prompt, the most likely first
  std::vector<infer::ClassProbability> classes;          // all, the most likely first
  std::vector<std::vector<infer::MaskCandidate>> masks;  // of each, the most likely first
  std::vector<infer::WordTag> words;
  std::vector<Index> first_tokens;  // of these words, among the tokens of the text
  std::vector<float> vector;        // the sentence's, of an encoder without a head
};

// Refuses (ErrorKind::data) what source_ids refuses, and an outcome that is not finite.
Answer answer(const ModelSession& session, const std::string& text,
              const AnswerOptions& options = {});

// The decoder's input once such a translation is complete: its start, then the tokens.
std::vector<int> target_inputs(const ModelSession& session, const Answer& translation);

nlohmann::json to_json(const Answer& answer, const ModelSession& session);

}  // namespace heed::explore
