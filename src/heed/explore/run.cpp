#include "heed/explore/run.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/explore/about.h"
#include "heed/explore/answer.h"
#include "heed/explore/changes.h"
#include "heed/explore/token_list.h"
#include "heed/explore/what_if.h"
#include "heed/generate/top_tokens.h"

namespace heed::explore {
namespace {

using nlohmann::ordered_json;

// Learned positions end somewhere.
void check_fits(const PassInput& input, const models::TransformerConfig& config) {
  if (config.positions != models::Positions::learned) return;
  const Index length = std::max(std::ssize(input.source), std::ssize(input.target));
  check_as(ErrorKind::data, length <= config.max_positions, "text: expected at most the model's ",
           config.max_positions, " tokens, found ", length);
}

std::vector<int> forced_target(const ModelSession& session, const std::string& text) {
  std::vector<int> ids = session.tokenizer().encode(text);
  check_as(ErrorKind::data, ids.size() <= max_text_tokens, "target: expected at most ",
           max_text_tokens, " tokens, found ", ids.size());
  ids.insert(ids.begin(), text::Tokenizer::end);
  return ids;
}

PassInput pass_input(const ModelSession& session, const std::string& text, const Answer& answer,
                     const std::optional<std::string>& forced) {
  if (session.language()) return {source_ids(session, text + forced.value_or("")), {}};
  PassInput input{source_ids(session, text), {}};
  if (!session.translation()) return input;
  if (forced) return {input.source, forced_target(session, *forced)};
  input.target = target_inputs(answer);
  const bool has_ended = answer.tokens.size() == input.target.size();
  if (has_ended) input.last = answer.tokens.back().token;
  return input;
}

// What every row of the logits predicted.
ordered_json predictions_json(const Recording& recording) {
  ordered_json all = ordered_json::array();
  const Tensor& logits = recording.logits();
  const std::size_t width = logits.dim(1);
  for (Index row = 0; row < logits.dim(0); ++row) {
    const int token = recording.predicted_token(row);
    const auto probabilities =
        generate::LogProbabilities::of_logits(logits.values().subspan(row * width, width));
    all.push_back({{"piece", recording.session().tokenizer().piece(token)},
                   {"id", token},
                   {"probability", std::exp(double{probabilities[token]})}});
  }
  return all;
}

ordered_json source_json(const Recording& recording) {
  const ModelSession& session = recording.session();
  ordered_json tokens =
      to_json(token_list(tokens_seen(session, recording.input()), session.tokenizer()));
  if (session.language()) tokens["next"] = predictions_json(recording);
  return tokens;
}

ordered_json target_json(const Recording& recording) {
  if (!recording.session().translation()) return nullptr;
  ordered_json tokens =
      to_json(token_list(recording.input().target, recording.session().tokenizer()));
  tokens["next"] = predictions_json(recording);
  return tokens;
}

ordered_json sites_json(const Recording& recording) {
  ordered_json sites = ordered_json::array();
  for (const Site& site : recording.session().sites()) {
    ordered_json facts = ordered_json::array();
    for (const HeadFact& fact : recording.head_facts(site.name)) {
      facts.push_back({{"label", fact.label}, {"share", fact.share}, {"entropy", fact.entropy}});
    }
    ordered_json one = to_json(site);
    one["head_facts"] = facts;
    sites.push_back(one);
  }
  return sites;
}

template <typename Value>
std::optional<Value> optional_field(const nlohmann::json& json, const char* name,
                                    bool (nlohmann::json::*is_kind)() const noexcept,
                                    const char* kind) {
  if (!json.contains(name) || json.at(name).is_null()) return std::nullopt;
  const nlohmann::json& value = json.at(name);
  check_as(ErrorKind::usage, (value.*is_kind)(), name, ": expected ", kind, ", found ",
           value.dump());
  return value.get<Value>();
}

}  // namespace

nlohmann::ordered_json run(ExplorerState& state, const std::string& text,
                           const RunOptions& options) {
  const auto session = state.sessions.session(options.checkpoint);
  const RunChanges changes = changes_from_json(options.changes, *session);
  const std::string changed_text = with_replacements(text, changes, *session);
  for (const std::string& one : {text, changed_text}) source_ids(*session, one);  // or refuses it
  std::optional<WhatIf> compared;
  if (!changes.is_empty()) {
    compared = what_if(*session, {text, changed_text, changes.attention, options.beam});
  }
  const Answer found =
      compared ? compared->after : answer(*session, text, {.beam_size = options.beam});
  const PassInput input = pass_input(*session, changed_text, found, options.target);
  check_fits(input, session->config());
  const auto trace = state.traces.add(changed_text, Recording(session, input, changes.attention));
  ordered_json json{{"trace", trace->id},
                    {"source", source_json(trace->recording)},
                    {"target", target_json(trace->recording)},
                    {"answer", to_json(found, *session)},
                    {"sites", sites_json(trace->recording)}};
  if (compared) json["compare"] = to_json(*compared, *session);
  return json;
}

RunOptions run_options_from_json(const nlohmann::json& json) {
  RunOptions options;
  options.target =
      optional_field<std::string>(json, "target", &nlohmann::json::is_string, "a text");
  options.checkpoint = optional_field<Index>(json, "checkpoint", &nlohmann::json::is_number_integer,
                                             "the number of an update");
  options.beam =
      optional_field<Index>(json, "beam", &nlohmann::json::is_number_integer, "a whole number");
  if (json.contains("changes")) options.changes = json.at("changes");
  return options;
}

}  // namespace heed::explore
