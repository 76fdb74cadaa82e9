// Decoding of folders of Hugging Face, token for token: expected.json of every folder in hf/models
// of HEED_DATA. Its README says how that was made.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "heed/infer/beam_search.h"
#include "heed/infer/generation_options.h"
#include "heed/infer/greedy_search.h"
#include "heed/infer/text_beams.h"
#include "heed/io/files.h"
#include "heed/models/language_model.h"
#include "heed/models/model_folder.h"
#include "heed/models/translation_model.h"
#include "support/temporary_folder.h"

namespace heed::infer {
namespace {

using nlohmann::json;
using Ids = std::vector<int>;

const std::string nothing = "none";

json load_json(const std::filesystem::path& path) {
  return json::parse(io::read_file(path.string(), ErrorKind::data));
}

bool has_generation(const json& expected) {
  return std::ranges::any_of(expected.at("cases"),
                             [](const json& one) { return one.contains("generate"); });
}

std::vector<std::string> folders() {
  std::vector<std::string> found;
  const char* data = std::getenv("HEED_DATA");
  const std::filesystem::path models = std::filesystem::path(data ? data : "") / "hf/models";
  if (data && std::filesystem::is_directory(models)) {
    for (const auto& folder : std::filesystem::directory_iterator(models)) {
      const bool is_complete = std::filesystem::exists(folder.path() / "expected.json");
      if (is_complete && has_generation(load_json(folder.path() / "expected.json"))) {
        found.push_back(folder.path().string());
      }
    }
  }
  std::ranges::sort(found);
  if (found.empty()) found.push_back(nothing);
  return found;
}

// One call of the reference: what it was given, and what it returned.
struct Call {
  models::GenerationConfig generation;
  std::vector<Ids> inputs;          // without padding
  std::vector<Ids> sequences = {};  // what was generated, up to the first end token, which counts
  std::vector<double> scores = {};  // of beams
  json params = {};
};

// The arguments of a call come before the folder's own settings.
models::GenerationConfig generation_of(const std::string& folder, const json& params) {
  const TemporaryFolder changed;
  json settings = load_json(folder + "/generation_config.json");
  settings.update(params);
  io::write_file_atomically(changed.path() + "/generation_config.json", settings.dump());
  std::filesystem::copy_file(folder + "/config.json", changed.path() + "/config.json");
  return models::load_generation_config(changed.path());
}

std::vector<Ids> unpadded(const json& one) {
  const auto ids = one.at("input_ids").get<std::vector<Ids>>();
  const auto mask = one.at("attention_mask").get<std::vector<Ids>>();
  std::vector<Ids> rows(ids.size());
  for (std::size_t row = 0; row < ids.size(); ++row) {
    for (std::size_t i = 0; i < ids[row].size(); ++i) {
      if (mask[row][i] == 1) rows[row].push_back(ids[row][i]);
    }
  }
  return rows;
}

Ids up_to_end(const Ids& ids, const text::SpecialTokens& tokens) {
  const auto end = std::ranges::find_if(ids, [&](int id) { return tokens.is_end(id); });
  return {ids.begin(), end == ids.end() ? end : end + 1};
}

std::vector<Call> calls_of(const std::string& folder, const models::TransformerConfig& config) {
  std::vector<Call> calls;
  const json expected = load_json(folder + "/expected.json");
  for (const json& one : expected.at("cases")) {
    if (!one.contains("generate")) continue;
    const std::size_t width = one.at("input_ids").at(0).size();
    const std::size_t before = config.kind == models::ModelKind::translation ? 1 : width;
    for (const json& entry : one.at("generate")) {
      Call call{.generation = generation_of(folder, entry.at("params")),
                .inputs = unpadded(one),
                .params = entry.at("params")};
      const text::SpecialTokens tokens = call.generation.with_ids(config.tokens);
      for (const Ids& ids : entry.at("sequences").get<std::vector<Ids>>()) {
        call.sequences.push_back(
            up_to_end({ids.begin() + static_cast<std::ptrdiff_t>(before), ids.end()}, tokens));
      }
      if (entry.contains("sequences_scores_f64")) {
        call.scores = entry.at("sequences_scores_f64").get<std::vector<double>>();
      }
      calls.push_back(std::move(call));
    }
  }
  return calls;
}

Ids with_end(const Hypothesis& hypothesis, const text::SpecialTokens& tokens) {
  Ids ids = hypothesis.ids;
  if (hypothesis.log_probabilities.size() > ids.size()) ids.push_back(tokens.end());
  return ids;
}

using Found = std::vector<std::vector<Hypothesis>>;

void expect_equal(const Found& found, const Call& call, const text::SpecialTokens& tokens,
                  double tolerance) {
  std::size_t number = 0;
  for (const std::vector<Hypothesis>& hypotheses : found) {
    for (const Hypothesis& hypothesis : hypotheses) {
      SCOPED_TRACE(number);
      ASSERT_LT(number, call.sequences.size());
      EXPECT_EQ(with_end(hypothesis, tokens), call.sequences[number]);
      if (!call.scores.empty()) {
        EXPECT_NEAR(hypothesis.normalised_score, call.scores[number], tolerance);
      }
      ++number;
    }
  }
  EXPECT_EQ(number, call.sequences.size());
}

BeamSearchOptions options_of(const Call& call, const models::TransformerConfig& config) {
  return search_options(call.generation, config);
}

Found search(const models::TranslationModel& model, const Call& call) {
  return beam_search(model, models::pack(call.inputs), options_of(call, model.config()));
}

Found search(const models::LanguageModel& model, const Call& call) {
  std::vector<Index> limits;
  for (const Ids& prompt : call.inputs) {
    limits.push_back(call.generation.new_tokens(std::ssize(prompt)));
  }
  return beam_search(model, models::pack(call.inputs), options_of(call, model.config()), limits);
}

// The fast search of translators, where the call asks for nothing else.
void expect_greedy(const models::TranslationModel& model, const Call& call) {
  const BeamSearchOptions options = options_of(call, model.config());
  if (!is_greedy(options)) return;
  const auto found =
      greedy_search(model, model.argmax_projection(), models::pack(call.inputs), options);
  const text::SpecialTokens tokens = special_tokens(options, model.config());
  for (std::size_t i = 0; i < found.size(); ++i) {
    Ids expected = call.sequences[i];
    if (!expected.empty() && tokens.is_end(expected.back())) expected.pop_back();
    EXPECT_EQ(found[i], expected);
  }
}

// Text in which every byte is one token.
std::string text_of(const Ids& ids) {
  constexpr int first_byte = text::own_tokens::end + 1;
  std::string text;
  for (const int id : ids) text += static_cast<char>(id - first_byte);
  return text;
}

// The loop of texts, with a tokenizer of bytes in place of the model's own. It knows no tokens that
// are no text.
void expect_greedy(const models::LanguageModel& model, const Call& call) {
  if (call.generation.beam_size > 1) return;
  const std::vector<std::string> some{"a"};
  const TextGenerator generator(
      model, text::Tokenizer::train(some, {.subwords = text::Subwords::byte}), call.generation);
  std::size_t number = 0;
  for (const Ids& prompt : call.inputs) {
    const Ids& expected = call.sequences[number++];
    const std::string text = text_of(prompt);
    if (generator.tokenizer().encode(text) != prompt) continue;
    Ids found;
    const auto texts = generator.generate(std::span(&text, 1), generator.default_options());
    for (const TokenScore& token : texts[0].tokens) found.push_back(token.token);
    EXPECT_EQ(found, expected);
  }
}

class HuggingFaceGeneration : public testing::TestWithParam<std::string> {
 protected:
  template <typename Model>
  void check_calls() {
    const auto model = models::load_model<Model>(GetParam());
    const json expected = load_json(GetParam() + "/expected.json");
    const double tolerance =
        std::max(2e-6, 4 * expected.at("tolerance").value("sequences_scores", 0.0));
    for (const Call& call : calls_of(GetParam(), model.config())) {
      SCOPED_TRACE(call.params.dump());
      const text::SpecialTokens tokens = call.generation.with_ids(model.config().tokens);
      expect_equal(search(model, call), call, tokens, tolerance);
      expect_greedy(model, call);
    }
  }
};

TEST_P(HuggingFaceGeneration, GivesTheTokensAndScoresOfTheReference) {
  if (GetParam() == nothing) GTEST_SKIP() << "HEED_DATA names no folder with hf/models";
  const models::ModelKind kind = models::load_config(GetParam()).kind;
  if (kind == models::ModelKind::translation) {
    check_calls<models::TranslationModel>();
  } else {
    check_calls<models::LanguageModel>();
  }
}

INSTANTIATE_TEST_SUITE_P(Folders, HuggingFaceGeneration, testing::ValuesIn(folders()),
                         [](const auto& info) {
                           return std::filesystem::path(info.param).filename().string();
                         });

}  // namespace
}  // namespace heed::infer
