#include "heed/explore/word_routes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace heed::explore {
namespace {

using Json = nlohmann::json;

Json question() {
  return Json::parse(R"({
    "words": [{"name": "bat", "vector": [0.7, 0.6]}, {"name": "<b>cave</b>", "vector": [0.1, 0.9]}],
    "similarity": "scaled-dot",
    "heads": [{"query": [[1, 0], [0, 1]], "key": [[0.5, 0], [0, 2]]}],
    "output": null,
    "mask": [[true, false], [true, true]]})");
}

serve::Response ask(const std::string& body) {
  serve::Router router;
  add_word_routes(router);
  return router.answer({.method = "POST", .path = "/api/words", .body = body});
}

// The numbers of a tensor in reading order; null where JSON has no number.
void flatten(const Json& json, std::vector<Json>& numbers) {
  if (!json.is_array()) return numbers.push_back(json);
  for (const Json& part : json) flatten(part, numbers);
}

void expect_numbers(const Json& json, const Tensor& expected) {
  std::vector<Json> numbers;
  flatten(json, numbers);
  ASSERT_EQ(static_cast<Index>(numbers.size()), expected.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const float value = expected.values()[i];
    if (std::isfinite(value)) {
      EXPECT_EQ(numbers[i].get<double>(), double{value}) << "exactly the engine's float";
    } else {
      EXPECT_TRUE(numbers[i].is_null());
    }
  }
}

TEST(WordRoutes, AnswerWithTheEnginesNumbers) {
  const serve::Response response = ask(question().dump());
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(response.content_type, "application/json");
  const Json answer = Json::parse(response.body);
  const PlaneAttention expected = attend_in_plane(
      {.words = Tensor::from({0.7f, 0.6f, 0.1f, 0.9f}, {2, 2}),
       .heads = {{Tensor::from({1, 0, 0, 1}, {2, 2}), Tensor::from({0.5f, 0, 0, 2}, {2, 2}),
                  Tensor::from({1, 0, 0, 1}, {2, 2})}},
       .may_see = {true, false, true, true}});
  const Json& head = answer.at("heads").at(0);
  const PlaneHeadSteps& steps = expected.heads[0];
  expect_numbers(head.at("queries"), steps.queries);
  expect_numbers(head.at("keys"), steps.keys);
  expect_numbers(head.at("values"), steps.values);
  expect_numbers(head.at("products"), steps.products);
  expect_numbers(head.at("similarities"), steps.similarities);
  expect_numbers(head.at("masked"), steps.masked);
  expect_numbers(head.at("row_max"), steps.row_max);
  expect_numbers(head.at("exps"), steps.exps);
  expect_numbers(head.at("row_sums"), steps.row_sums);
  expect_numbers(head.at("weights"), steps.weights);
  expect_numbers(head.at("pulls"), steps.pulls);
  expect_numbers(head.at("contexts"), steps.contexts);
  EXPECT_EQ(head.at("scale").get<double>(), double{steps.scale});
  EXPECT_EQ(head.at("products").at(1).at(0).size(), 2u);
  expect_numbers(answer.at("concatenated"), expected.concatenated);
  expect_numbers(answer.at("outputs"), expected.outputs);
}

TEST(WordRoutes, NameTheFieldThatIsWrong) {
  const auto error_when = [](const char* pointer, const Json& value) {
    Json asked = question();
    asked[Json::json_pointer(pointer)] = value;
    const serve::Response response = ask(asked.dump());
    EXPECT_EQ(response.status, 400) << pointer;
    return Json::parse(response.body).at("error").get<std::string>();
  };
  EXPECT_EQ(error_when("/words", Json::array()), "words: expected 1 to 24 entries, found 0");
  EXPECT_EQ(error_when("/words", Json(std::vector<Json>(25, question()["words"][0]))),
            "words: expected 1 to 24 entries, found 25");
  EXPECT_EQ(error_when("/words", "bat"), "words: expected a list, found string");
  EXPECT_EQ(error_when("/words/1", 3), "words: expected objects with a name and a vector");
  EXPECT_EQ(error_when("/words/1/vector", {1, 2, 3}), "words: expected 2 rows of 2 numbers");
  EXPECT_EQ(error_when("/words/1/vector/0", "a"), "words: expected a number, found string");
  EXPECT_EQ(error_when("/words/1/vector/0", 1e30), "words: expected at most 1e+06, found 1e+30");
  EXPECT_EQ(error_when("/similarity", "angle"),
            "similarity: expected one of dot, cosine, scaled-dot, found angle");
  EXPECT_EQ(error_when("/heads", Json::array()), "heads: expected 1 to 2 entries, found 0");
  EXPECT_EQ(error_when("/heads/0", 1), "heads: expected objects, found number");
  EXPECT_EQ(error_when("/heads/0/key", {{1, 2}}), "key: expected 2 rows of 2 numbers");
  EXPECT_EQ(error_when("/output", {{1, 2}}), "output: expected 2 rows of 2 numbers");
  EXPECT_EQ(error_when("/mask", Json::array({true})), "mask: expected 2 to 2 entries, found 1");
  EXPECT_EQ(error_when("/mask/0", Json::array({true})), "mask: expected 2 rows and columns");
  EXPECT_EQ(error_when("/mask/0/0", 1), "mask: expected true or false, found number");
  EXPECT_EQ(ask("{}").status, 400);
  EXPECT_EQ(ask("<script>").status, 400);
}

}  // namespace
}  // namespace heed::explore
