#include "heed/explore/run.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/explore/about.h"
#include "heed/explore/answer.h"
#include "heed/explore/head_words.h"
#include "heed/explore/interventions.h"
#include "heed/explore/what_if.h"
#include "heed/io/json_fields.h"

namespace heed::explore {
namespace {

using nlohmann::ordered_json;

void check_fits(const ModelSession& session, const PassInput& input) {
  const Index limit = models::max_positions(session.config());
  const Index length = std::max(std::ssize(tokens_seen(session, input)), std::ssize(input.target));
  check_as(ErrorKind::data, length <= limit, "text: expected at most the model's ", limit,
           " tokens, found ", length);
}

// The text that the model reads, and its tokens.
struct SourceText {
  std::string text;
  std::vector<int> ids;
};

PassInput pass_input(const ModelSession& session, const SourceText& source, const Answer& answer,
                     const std::optional<std::string>& target) {
  if (session.language() && target) return {source_ids(session, source.text + *target), {}};
  PassInput input{source.ids, {}};
  if (!session.translation()) return input;
  if (target) return {input.source, target_ids(session, *target)};
  input.target = target_inputs(session, answer);
  const bool has_ended = answer.tokens.size() == input.target.size();
  if (has_ended) input.last = answer.tokens.back().token;
  return input;
}

// The prediction of every row of the logits.
ordered_json predictions_json(const Recording& recording) {
  ordered_json all = ordered_json::array();
  for (const RowPrediction& prediction : recording.predictions()) {
    all.push_back({{"piece", recording.session().tokenizer().piece(prediction.token)},
                   {"id", prediction.token},
                   {"probability", prediction.probability}});
  }
  return all;
}

ordered_json source_json(const Trace& trace) {
  const Recording& recording = trace.recording;
  const ModelSession& session = trace.session();
  TokenList list = tokens_of(recording, "source");
  name_words(list, trace.text);
  ordered_json tokens = to_json(list);
  if (session.language()) tokens["next"] = predictions_json(recording);
  return tokens;
}

ordered_json target_json(const Recording& recording) {
  if (!recording.session().translation()) return nullptr;
  ordered_json tokens = to_json(tokens_of(recording, "target"));
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

}  // namespace

nlohmann::ordered_json run(ExplorerState& state, const std::string& text,
                           const RunOptions& options) {
  const auto session = state.sessions.session(options.checkpoint);
  const RunInterventions interventions = interventions_from_json(options.interventions, *session);
  const std::string edited_text = with_replacements(text, interventions, *session);
  const SourceText source{edited_text, source_ids(*session, edited_text)};
  if (text != edited_text) source_ids(*session, text);  // or refuses it
  std::optional<WhatIf> compared;
  if (!interventions.is_empty()) {
    compared = what_if(*session, {text, edited_text, interventions.attention, options.beam});
  }
  const Answer result =
      compared ? compared->after : answer(*session, text, {.beam_size = options.beam});
  const PassInput input = pass_input(*session, source, result, options.target);
  check_fits(*session, input);
  const auto trace =
      state.traces.add(edited_text, Recording(session, input, interventions.attention));
  ordered_json json{{"trace", trace->id},
                    {"source", source_json(*trace)},
                    {"target", target_json(trace->recording)},
                    {"answer", to_json(result, *session)},
                    {"sites", sites_json(trace->recording)}};
  if (compared) json["compare"] = to_json(*compared, *session);
  return json;
}

RunOptions run_options_from_json(const nlohmann::json& json) {
  const auto fields = io::JsonFields::of(json, "run", ErrorKind::usage);
  RunOptions options{
      .target = fields.optional_text("target"),
      .checkpoint = fields.optional_integer("checkpoint"),
      .beam = fields.optional_integer("beam", {.min = 1, .max = max_page_beam_size})};
  if (fields.has("interventions")) options.interventions = json.at("interventions");
  return options;
}

}  // namespace heed::explore
