#include <gtest/gtest.h>

#include <fstream>

#include "explore/redone_cell.h"
#include "models/family_configs.h"
#include "models/hugging_face_case.h"
#include "support/temporary_folder.h"

namespace heed::explore {
namespace {

using models::ModelKind;

// Decoders in the manner of Llama 3, Qwen 3 and GPT-NeoX.
std::vector<models::FamilyNetwork> rotary_networks() {
  models::TransformerConfig llama = models::family_base(ModelKind::language);
  llama.norm_place = models::NormPlace::before;
  llama.norm_kind = models::NormKind::rms;
  llama.norm_epsilon = 1e-6f;
  llama.positions = models::Positions::rotary;
  llama.attention_bias = models::AttentionBias::none;
  llama.num_heads = 4;
  llama.num_key_value_heads = 2;
  llama.head_dim = 6;
  llama.rotary.base = 500;
  llama.rotary.scaling = ops::RotaryScaling::llama3;
  llama.rotary.factor = 8;
  llama.rotary.original_positions = 16;
  models::TransformerConfig qwen = llama;
  qwen.has_query_key_norm = true;
  models::TransformerConfig neox = models::family_base(ModelKind::language);
  neox.norm_place = models::NormPlace::before;
  neox.positions = models::Positions::rotary;
  neox.rotary.dim = 2;
  neox.block_form = models::BlockForm::parallel;
  return {{"llama", llama}, {"qwen3", qwen}, {"gpt_neox", neox}};
}

std::string text_for(ModelKind kind) {
  return kind == ModelKind::masked ? "the <mask> sleeps in the cave" : "the bat sleeps in the cave";
}

TEST(CellFamilies, CellsCanBeDoneAgainForNetworksOfOtherFamilies) {
  std::vector<models::FamilyNetwork> networks = models::family_networks();
  for (models::FamilyNetwork& network : rotary_networks()) networks.push_back(std::move(network));
  for (models::FamilyNetwork& network : networks) {
    network.config.source_vocabulary = 0;  // one tokenizer for both sides
    if (network.config.kind == ModelKind::image_classifier) continue;
    SCOPED_TRACE(network.name);
    expect_cells_redone(network.config, text_for(network.config.kind));
  }
}

// Where the second of two texts begins.
std::optional<std::size_t> second_text(const std::vector<int>& types) {
  const auto second = std::ranges::find(types, 1);
  return second == types.end() ? std::nullopt : std::optional(second - types.begin());
}

// A template in which the token before the second text ends the first one, as BERT's [SEP].
nlohmann::ordered_json post_processor(const models::PackedIds& input) {
  const std::optional<std::size_t> second = second_text(input.types);
  if (!second) return nullptr;
  const int end = input.ids[*second - 1];
  const std::string name = "t" + std::to_string(end);
  const auto text = [](const char* id, int type) {
    return nlohmann::ordered_json{{"Sequence", {{"id", id}, {"type_id", type}}}};
  };
  const nlohmann::ordered_json separator{{"SpecialToken", {{"id", name}, {"type_id", 0}}}};
  const auto list = [](auto... parts) { return nlohmann::ordered_json::array({parts...}); };
  return {{"type", "TemplateProcessing"},
          {"single", list(text("A", 0))},
          {"pair", list(text("A", 0), separator, text("B", 1))},
          {"special_tokens", {{name, {{"id", name}, {"ids", list(end)}, {"tokens", list(name)}}}}}};
}

// None if all are 0, as templates give them.
std::vector<int> expected_types(const models::PackedIds& input) {
  return second_text(input.types) ? input.types : std::vector<int>{};
}

// A tokenizer with a word for every row of the embeddings: folders of the reference have none.
void write_words(const std::filesystem::path& folder, Index vocabulary,
                 const models::PackedIds& input) {
  nlohmann::ordered_json words;
  for (Index id = 0; id < vocabulary; ++id) words["t" + std::to_string(id)] = id;
  const nlohmann::ordered_json tokenizer{
      {"version", "1.0"},
      {"added_tokens", nlohmann::json::array()},
      {"normalizer", nullptr},
      {"pre_tokenizer", {{"type", "Whitespace"}}},
      {"post_processor", post_processor(input)},
      {"decoder", nullptr},
      {"model", {{"type", "WordLevel"}, {"vocab", words}, {"unk_token", "t1"}}}};
  std::ofstream(folder / "tokenizer.json") << tokenizer.dump();
  std::ofstream(folder / "tokenizer_config.json") << R"({"mask_token": "t4"})";
}

class ReferenceFolders : public testing::TestWithParam<std::string> {};

// One layer's weights [1, H, queries, keys] of the reference's [layers, 1, H, queries, keys].
void expect_weights(const Recording& recording, const std::string& site, const NpyArray& all,
                    Index layer) {
  const Tensor weights = recording.view(site).weights;
  ASSERT_EQ(all.shape[1], 1) << site;
  ASSERT_EQ((Shape{all.shape[2], all.shape[3], all.shape[4]}), weights.shape()) << site;
  const auto values = std::as_const(weights).values();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto expected = all.values[static_cast<std::size_t>(layer) * values.size() + i];
    ASSERT_NEAR(values[i], expected, 8e-6) << site << ", weight " << i;
  }
}

PassInput input_of(const models::HuggingFaceCase& one, bool has_target) {
  PassInput input{one.input().ids, {}};
  if (has_target) input.target = gather(one["decoder_input_ids"], one.target_rows());
  return input;
}

models::HuggingFaceCase case_of(const std::filesystem::path& folder, const std::string& name) {
  const json expected = models::read_json(folder / "expected.json");
  for (const json& fields : expected.at("cases")) {
    if (fields.at("name") == name) return {folder, fields};
  }
  ADD_FAILURE() << folder << " has no case " << name;
  return {folder, {}};
}

// Weights of the reference, and the whole arithmetic of some of them.
TEST_P(ReferenceFolders, RecordTheWeightsOfTheReferenceAndExplainThem) {
  const std::filesystem::path from = models::hugging_face_folder() / GetParam();
  if (GetParam().empty()) GTEST_SKIP() << "no reference folders";
  const models::TransformerConfig config = models::load_config(from.string());
  if (!models::has_text(config.kind)) GTEST_SKIP() << "images have no tokens";
  const TemporaryFolder folder;
  std::filesystem::copy(
      from, folder.path(),
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
  for (const char* const name : text::Tokenizer::file_names()) {
    std::filesystem::remove(std::filesystem::path(folder.path()) / name);
  }
  const models::HuggingFaceCase one = case_of(from, "c1");
  write_words(folder.path(), config.vocabulary, one.input());
  const auto session = std::make_shared<const ModelSession>(folder.path());
  const bool has_two = config.kind == ModelKind::translation;
  const Recording recording(session, input_of(one, has_two));
  expect_cells_redone(recording);
  if (session->tokenizer().sequence().types(one.input().ids) != expected_types(one.input())) {
    GTEST_SKIP() << "the first text holds what ends it";
  }
  Index num_compared = 0;
  for (const Site& site : session->sites()) {
    const std::string name = (has_two ? site.part + "_" : "") + "attentions";
    if (!one.has_array(name)) continue;
    expect_weights(recording, site.name, one.array(name), site.layer);
    ++num_compared;
  }
  EXPECT_EQ(num_compared, std::ssize(session->sites()));
}

INSTANTIATE_TEST_SUITE_P(HuggingFace, ReferenceFolders,
                         testing::ValuesIn(models::hugging_face_names()),
                         [](const testing::TestParamInfo<std::string>& folder) {
                           return folder.param.empty() ? std::string("none") : folder.param;
                         });

}  // namespace
}  // namespace heed::explore
