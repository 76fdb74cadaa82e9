#include "heed/explore/what_if.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "heed/explore/recording.h"
#include "heed/infer/sampling.h"
#include "heed/infer/top_tokens.h"

namespace heed::explore {
namespace {

using infer::TokenScore;
using models::ModelKind;
using nlohmann::json;

// A side of the comparison.
struct Side {
  const std::string& text;
  const nn::Interventions* interventions;
};

// The probabilities of the tokens after the text, teacher-forced.
std::vector<double> teacher_forced_probabilities(const ModelSession& session, const Side& side,
                                                 const std::vector<TokenScore>& tokens) {
  if (tokens.empty()) return {};
  PassInput input{.source = source_ids(session, side.text), .target = {}};
  const bool is_language = session.kind() == ModelKind::language;
  std::vector<int>& read = is_language ? input.source : input.target;
  if (!is_language) read.push_back(session.tokenizer().tokens().decoder_start);
  const Index first_row = std::ssize(read) - 1;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) read.push_back(tokens[i].token);

  const NoGrad no_grad;
  auto context = nn::ForwardContext::inference(nullptr, side.interventions);
  Tensor logits = teacher_forced_logits(session, input, context);  // [read, V]
  const Index width = logits.dim(1);
  std::vector<double> probabilities;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto row = logits.values().subspan((first_row + static_cast<Index>(i)) * width, width);
    if (is_language) infer::suppress_special_tokens(row);
    const float score = infer::LogProbabilities::of_logits(row)[tokens[i].token];
    probabilities.push_back(std::exp(double{score}));
  }
  return probabilities;
}

// As many as fit after both texts: a generator drops the first tokens when its context is full.
void keep_what_fits(std::vector<TokenScore>& tokens, const ModelSession& session,
                    const Side& before, const Side& after) {
  if (session.kind() != ModelKind::language) return;
  for (const Side* side : {&before, &after}) {
    const Index length = std::ssize(source_ids(session, side->text));
    const Index limit = std::max<Index>(0, session.config().max_positions - length + 1);
    if (std::ssize(tokens) > limit) tokens.resize(static_cast<std::size_t>(limit));
  }
}

std::vector<TeacherForcedPiece> teacher_forced_tokens(const ModelSession& session,
                                                      const Side& before, const Side& after,
                                                      std::vector<TokenScore> tokens) {
  keep_what_fits(tokens, session, before, after);
  const std::vector<double> first = teacher_forced_probabilities(session, before, tokens);
  const std::vector<double> second = teacher_forced_probabilities(session, after, tokens);
  std::vector<TeacherForcedPiece> pieces;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    pieces.push_back({session.tokenizer().piece(tokens[i].token), first[i], second[i]});
  }
  return pieces;
}

std::vector<TeacherForcedPiece> teacher_forced_classes(const ModelSession& session,
                                                       const WhatIf& what_if) {
  std::vector<TeacherForcedPiece> pieces;
  for (const infer::ClassProbability& one : what_if.before.classes) {
    const auto same =
        std::ranges::find(what_if.after.classes, one.of_class, &infer::ClassProbability::of_class);
    pieces.push_back({session.config().labels[static_cast<std::size_t>(one.of_class)],
                      one.probability, same->probability});
  }
  return pieces;
}

// The first answer's word for each mask that is still there.
std::vector<TeacherForcedPiece> teacher_forced_masks(const ModelSession& session, const Side& after,
                                                     const Answer& answer) {
  infer::LineOptions options;
  options.hook = after.interventions;
  const infer::FilledLine all = session.fill_mask()
                                    ->fill(std::span(&after.text, 1), text::Tokenizer::mask_piece,
                                           session.config().vocabulary, options)
                                    .front();
  std::vector<TeacherForcedPiece> pieces;
  for (std::size_t mask = 0; mask < std::min(all.size(), answer.masks.size()); ++mask) {
    const infer::MaskCandidate& best = answer.masks[mask].front();
    const auto same = std::ranges::find(all[mask], best.word, &infer::MaskCandidate::word);
    pieces.push_back(
        {best.word, best.probability, same == all[mask].end() ? 0 : same->probability});
  }
  return pieces;
}

// The probability of the first answer's tag for each word, or for those that the side has.
std::vector<double> teacher_forced_tags(const ModelSession& session, const Side& side,
                                        const Answer& first, const Answer& of_side) {
  const NoGrad no_grad;
  auto context = nn::ForwardContext::inference(nullptr, side.interventions);
  const PassInput input{.source = source_ids(session, side.text), .target = {}};
  const Tensor logits = teacher_forced_logits(session, input, context);  // [tokens, tags]
  std::vector<double> probabilities;
  for (std::size_t i = 0; i < std::min(first.words.size(), of_side.words.size()); ++i) {
    const auto row =
        logits.values().subspan(of_side.first_tokens[i] * logits.dim(1), logits.dim(1));
    const float score = infer::LogProbabilities::of_logits(row)[first.words[i].number];
    probabilities.push_back(std::exp(double{score}));
  }
  return probabilities;
}

std::vector<TeacherForcedPiece> teacher_forced_words(const ModelSession& session,
                                                     const Side& before, const Side& after,
                                                     const WhatIf& what_if) {
  const Answer& first = what_if.before;
  const std::vector<double> was = teacher_forced_tags(session, before, first, first);
  const std::vector<double> is = teacher_forced_tags(session, after, first, what_if.after);
  std::vector<TeacherForcedPiece> pieces;
  for (std::size_t i = 0; i < is.size(); ++i) {
    pieces.push_back({first.words[i].word + ' ' + first.words[i].tag, was[i], is[i]});
  }
  return pieces;
}

}  // namespace

WhatIf what_if(const ModelSession& session, const WhatIfInput& input) {
  const Side before{input.text, nullptr}, after{input.edited_text, &input.interventions};
  WhatIf what_if{answer(session, before.text, {before.interventions, input.beam_size}),
                 answer(session, after.text, {after.interventions, input.beam_size}),
                 {}};
  switch (session.kind()) {
    case ModelKind::classifier:
      what_if.pieces = teacher_forced_classes(session, what_if);
      break;
    case ModelKind::masked:
      what_if.pieces = teacher_forced_masks(session, after, what_if.before);
      break;
    case ModelKind::tagger:
      what_if.pieces = teacher_forced_words(session, before, after, what_if);
      break;
    default:
      what_if.pieces = teacher_forced_tokens(session, before, after, what_if.before.tokens);
  }
  return what_if;
}

json to_json(const WhatIf& what_if, const ModelSession& session) {
  json tokens = json::array();
  for (std::size_t i = 0; i < what_if.pieces.size(); ++i) {
    const TeacherForcedPiece& piece = what_if.pieces[i];
    tokens.push_back({{"position", i},
                      {"piece", piece.piece},
                      {"before", piece.before},
                      {"after", piece.after},
                      {"difference", piece.after - piece.before}});
  }
  return {{"before", to_json(what_if.before, session)},
          {"after", to_json(what_if.after, session)},
          {"tokens", std::move(tokens)}};
}

}  // namespace heed::explore
