#include "heed/explore/changes.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/explore/token_list.h"

namespace heed::explore {
namespace {

using nlohmann::json;

const json& field(const json& object, const char* name) {
  check_as(ErrorKind::usage, object.is_object() && object.contains(name),
           "changes: expected a field ", name, ", found ", object.dump());
  return object.at(name);
}

Index index_field(const json& object, const char* name) {
  const json& value = field(object, name);
  check_as(ErrorKind::usage, value.is_number_integer() && value.get<Index>() >= 0,
           "changes: ", name, ": expected a whole number from 0 on, found ", value.dump());
  return value.get<Index>();
}

std::string text_field(const json& object, const char* name) {
  const json& value = field(object, name);
  check_as(ErrorKind::usage, value.is_string(), "changes: ", name, ": expected a text, found ",
           value.dump());
  return value.get<std::string>();
}

float scale_field(const json& object) {
  const json& value = field(object, "scale");
  check_as(ErrorKind::usage, value.is_number() && std::isfinite(value.get<double>()),
           "changes: scale: expected a number, found ", value.dump());
  return value.get<float>();
}

Index head_field(const json& object, const Site& site) {
  const Index head = index_field(object, "head");
  check_as(ErrorKind::usage, head < site.heads, "changes: ", site.name,
           ": expected a head from 0 to ", site.heads - 1, ", found ", head);
  return head;
}

// The elements of an optional list.
template <typename Add>
void for_each(const json& changes, const char* name, Add add) {
  if (!changes.contains(name) || changes.at(name).is_null()) return;
  const json& list = changes.at(name);
  check_as(ErrorKind::usage, list.is_array(), "changes: ", name, ": expected a list, found ",
           list.dump());
  for (const json& element : list) add(element);
}

ops::Similarity similarity_of(const json& value) {
  const auto similarity =
      value.is_string() ? ops::parse_similarity(value.get_ref<const std::string&>()) : std::nullopt;
  check_as(ErrorKind::usage, similarity.has_value(),
           "changes: similarity: expected dot, cosine or scaled-dot, found ", value.dump());
  return *similarity;
}

}  // namespace

RunChanges changes_from_json(const json& json, const ModelSession& session) {
  RunChanges changes;
  if (json.is_null()) return changes;
  check_as(ErrorKind::usage, json.is_object(), "changes: expected an object, found ", json.dump());
  for_each(json, "heads", [&](const auto& head) {
    const Site& site = session.site(text_field(head, "site"));
    changes.attention.scales.push_back({site.name, head_field(head, site), scale_field(head)});
  });
  for_each(json, "links", [&](const auto& link) {
    const Site& site = session.site(text_field(link, "site"));
    std::optional<Index> head;
    if (link.contains("head") && !link.at("head").is_null()) head = head_field(link, site);
    changes.attention.links.push_back(
        {site.name, head, index_field(link, "query"), index_field(link, "key")});
  });
  for_each(json, "replace", [&](const auto& word) {
    check_as(ErrorKind::usage, !word.contains("side") || word.at("side") == "source",
             "changes: side: expected source, found ", word.dump());
    changes.replacements.push_back({index_field(word, "word"), text_field(word, "text")});
  });
  if (json.contains("similarity") && !json.at("similarity").is_null()) {
    changes.attention.similarity = similarity_of(json.at("similarity"));
  }
  return changes;
}

std::string with_replacements(const std::string& text, const RunChanges& changes,
                              const ModelSession& session) {
  // Where a classifier puts the begin token first, that is word number 0.
  const bool has_begin = session.kind() == models::ModelKind::classifier &&
                         session.config().pooling == models::Pooling::first;
  std::string replaced = text;
  for (const WordReplacement& word : changes.replacements) {
    replaced = with_word_replaced(replaced, word.word - (has_begin ? 1 : 0), word.text);
  }
  return replaced;
}

}  // namespace heed::explore
