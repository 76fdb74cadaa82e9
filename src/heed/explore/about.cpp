#include "heed/explore/about.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "heed/base/version.h"
#include "heed/explore/metrics_tail.h"
#include "heed/explore/token_list.h"
#include "heed/explore/training_history.h"
#include "heed/io/files.h"
#include "heed/train/training_folder.h"

namespace heed::explore {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t max_examples = 12;

// Sentences like those of the built-in corpus: pronouns that could be either of two things, and a
// word with two meanings.
constexpr const char* built_in_examples[] = {
    "The cat slept on the chair because it was tired.",
    "The cat slept on the chair because it was soft.",
    "The small bat flew out of the cave.",
    "The small bat lay beside the tennis racket.",
    "The dog left the sofa because it was dirty.",
};

std::string_view name_of_kind(models::ModelKind kind) {
  constexpr std::string_view prefix = "heed-";
  std::string_view name = name_of(kind);
  if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  return name;
}

// Every word in few pieces: the model was trained on such text.
bool is_known(const std::string& sentence, const text::Tokenizer& tokenizer) {
  const TokenList tokens = token_list(tokenizer.encode(sentence), tokenizer);
  const bool has_unknown = std::ranges::count(tokens.ids, tokenizer.tokens().unknown) > 0;
  return !has_unknown && 2 * tokens.ids.size() <= 3 * tokens.word_texts.size() + 2;
}

// The sample sentences of the last validation.
std::vector<std::string> validation_samples(const std::string& folder) {
  TrainingHistory history;
  const auto lines = MetricsTail(train::TrainingFolder(folder).metrics()).read().lines;
  const auto is_validation = [&](const std::string& line) {
    return line.starts_with(R"({"kind":"validation")") &&
           history.add(line) == TrainingHistory::Kind::validation;
  };
  std::vector<std::string> sources;
  if (std::find_if(lines.rbegin(), lines.rend(), is_validation) == lines.rend()) return sources;
  const nlohmann::json last = to_json(history.validations().back());
  for (const auto& sample : last.value("samples", nlohmann::json::array())) {
    const std::string source = sample.at("source");
    if (!source.empty()) sources.push_back(source);
  }
  return sources;
}

// First the samples of the model's own training run, then those built-in sentences that it knows.
std::vector<std::string> examples(const std::string& folder, const ModelSession& session) {
  if (session.kind() == models::ModelKind::image_classifier) return {};
  std::vector<std::string> sentences = validation_samples(folder);
  for (const char* sentence : built_in_examples) {
    if (is_known(sentence, session.tokenizer())) sentences.emplace_back(sentence);
  }
  if (sentences.size() > max_examples) sentences.resize(max_examples);
  return sentences;
}

ordered_json model_json(const std::string& folder, const ModelSession& session) {
  const models::TransformerConfig& config = session.config();
  ordered_json sites = ordered_json::array();
  for (const Site& site : session.sites()) sites.push_back(to_json(site));
  ordered_json json{
      {"folder", std::filesystem::path(folder).lexically_normal().filename().string()},
      {"kind", name_of_kind(config.kind)},
      {"parameters", session.num_parameters()},
      {"head_width", config.head_dim > 0 ? config.head_dim : config.model_dim / config.num_heads},
      {"config", ordered_json::parse(models::to_json(config))},
      {"sites", sites},
      {"vocabulary", config.vocabulary}};
  if (!config.labels.empty()) json["labels"] = config.labels;
  return json;
}

ordered_json run_json(const SessionStore& sessions) {
  const train::TrainingFolder folder(sessions.folder());
  if (!io::is_folder(folder.training())) return nullptr;
  return {{"is_live", train::is_training_in(folder)}, {"checkpoints", sessions.checkpoints()}};
}

}  // namespace

ordered_json to_json(const Site& site) {
  return {{"name", site.name},   {"part", site.part},       {"layer", site.layer},
          {"heads", site.heads}, {"queries", site.queries}, {"keys", site.keys}};
}

ordered_json about(ExplorerState& state) {
  ordered_json json{{"version", version},
                    {"model", nullptr},
                    {"examples", ordered_json::array()},
                    {"run", nullptr}};
  if (!state.sessions.has_folder()) return json;
  json["run"] = run_json(state.sessions);
  if (!state.sessions.has_model()) return json;
  const auto session = state.sessions.session();
  json["model"] = model_json(state.sessions.folder(), *session);
  json["examples"] = examples(state.sessions.folder(), *session);
  return json;
}

}  // namespace heed::explore
