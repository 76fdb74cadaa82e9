#include "heed/explore/interventions.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/explore/token_list.h"
#include "heed/io/json_fields.h"

namespace heed::explore {
namespace {

using io::JsonFields;

constexpr const char* source = "interventions";

Index index_field(const JsonFields& fields, const char* name) {
  return fields.integer(name, {.min = 0});
}

Index head_field(const JsonFields& fields, const Site& site) {
  const Index head = index_field(fields, "head");
  check_as(ErrorKind::usage, head < site.heads, source, ": ", site.name,
           ": expected a head from 0 to ", site.heads - 1, ", found ", head);
  return head;
}

nn::Interventions::HeadScale scale_of(const JsonFields& fields, const ModelSession& session) {
  constexpr double largest = std::numeric_limits<float>::max();
  const Site& site = session.site(fields.text("site"));
  const double scale = fields.number("scale", {.min = -largest, .max = largest});
  return {site.name, head_field(fields, site), static_cast<float>(scale)};
}

nn::Interventions::Knockout knockout_of(const JsonFields& fields, const ModelSession& session) {
  const Site& site = session.site(fields.text("site"));
  std::optional<Index> head;
  if (fields.has("head")) head = head_field(fields, site);
  return {site.name, head, index_field(fields, "query"), index_field(fields, "key")};
}

WordReplacement replacement_of(const JsonFields& fields) {
  fields.choice_or("side", "source", {"source"});
  return {index_field(fields, "word"), fields.text("text")};
}

}  // namespace

RunInterventions interventions_from_json(const nlohmann::json& json, const ModelSession& session) {
  RunInterventions interventions;
  if (json.is_null()) return interventions;
  const JsonFields fields = JsonFields::of(json, source, ErrorKind::usage);
  for (const JsonFields& head : fields.optional_objects("head_scales")) {
    interventions.attention.scales.push_back(scale_of(head, session));
  }
  for (const JsonFields& knockout : fields.optional_objects("knockouts")) {
    interventions.attention.knockouts.push_back(knockout_of(knockout, session));
  }
  for (const JsonFields& word : fields.optional_objects("replacements")) {
    interventions.replacements.push_back(replacement_of(word));
  }
  if (fields.has("similarity")) {
    interventions.attention.swapped_similarity = parse_choice<ops::Similarity>(
        fields.text("similarity"), std::string(source) + ": similarity");
  }
  return interventions;
}

std::string with_replacements(const std::string& text, const RunInterventions& interventions,
                              const ModelSession& session) {
  // What the tokenizer and the model put before a text are words of their own.
  const Index first = (models::puts_begin_first(session.config()) ? 1 : 0) +
                      std::ssize(session.tokenizer().sequence().prefix);
  std::string replaced = text;
  for (const WordReplacement& word : interventions.replacements) {
    replaced = with_word_replaced(replaced, word.word - first, word.text);
  }
  return replaced;
}

}  // namespace heed::explore
