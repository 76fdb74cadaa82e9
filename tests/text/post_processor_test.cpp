#include "heed/text/post_processor.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "text/small_tokenizer_json.h"

namespace heed::text {
namespace {

using Ids = std::vector<int>;
using AllOffsets = std::vector<Offsets>;

Json special(const std::string& name, int type_id) {
  return {{"SpecialToken", {{"id", name}, {"type_id", type_id}}}};
}

Json sequence(const std::string& name, int type_id) {
  return {{"Sequence", {{"id", name}, {"type_id", type_id}}}};
}

const Json start{{"id", "<s>"}, {"ids", {7, 8}}, {"tokens", {"<", "s>"}}};

const Json one_template{{"type", "TemplateProcessing"},
                        {"single", {special("<s>", 3), sequence("A", 0)}},
                        {"pair", {sequence("B", 1), special("<s>", 0), sequence("A", 2)}},
                        {"special_tokens", {{"<s>", start}}}};

Encoding text(std::initializer_list<int> ids) {
  Encoding encoding;
  for (const int id : ids) encoding.push_back({.id = id});
  return encoding;
}

PostProcessor processor(const Json& settings) {
  return PostProcessor(io::JsonFields::of(settings, "post_processor"));
}

TEST(PostProcessor, FollowsItsTemplates) {
  const Encoding single = processor(one_template).process(text({1, 2}), std::nullopt, true);
  EXPECT_EQ(single.ids, (Ids{7, 8, 1, 2}));
  EXPECT_EQ(single.type_ids, (Ids{3, 3, 0, 0}));
  EXPECT_EQ(single.special_mask, (Ids{1, 1, 0, 0}));
  const Encoding pair = processor(one_template).process(text({1}), text({2}), true);
  EXPECT_EQ(pair.ids, (Ids{2, 7, 8, 1}));
  EXPECT_EQ(pair.type_ids, (Ids{1, 0, 0, 2}));
  EXPECT_EQ(processor(one_template).num_added(false), 2U);
}

TEST(PostProcessor, WithoutSpecialTokensKeepsTheTypesOfItsTemplate) {
  const Encoding pair = processor(one_template).process(text({1}), text({2}), false);
  EXPECT_EQ(pair.ids, (Ids{2, 1}));
  EXPECT_EQ(pair.type_ids, (Ids{1, 2}));
}

TEST(PostProcessor, OfRobertaSeparatesAPairTwiceAndHasOneType) {
  const Json roberta{{"type", "RobertaProcessing"},
                     {"sep", {"</s>", 2}},
                     {"cls", {"<s>", 0}},
                     {"trim_offsets", false},
                     {"add_prefix_space", false}};
  const Encoding pair = processor(roberta).process(text({5}), text({6}), true);
  EXPECT_EQ(pair.ids, (Ids{0, 5, 2, 2, 6, 2}));
  EXPECT_EQ(pair.type_ids, Ids(6, 0));
}

TEST(PostProcessor, TrimsSpacesFromOffsets) {
  Encoding words;
  words.push_back({.id = 1,
                   .token = "\u0120"
                            "a",
                   .offsets = {0, 1}});
  words.push_back({.id = 2,
                   .token = "\u0120"
                            "b",
                   .offsets = {1, 3}});
  words.push_back({.id = 3, .token = "c\u0120\u0120", .offsets = {3, 6}});
  const Json byte_level{{"type", "ByteLevel"}, {"trim_offsets", true}, {"add_prefix_space", true}};
  EXPECT_EQ(processor(byte_level).process(words, std::nullopt, true).offsets,
            (AllOffsets{{0, 1}, {2, 3}, {3, 4}}));
}

TEST(PostProcessor, RefusesTemplatesThatLeadNowhere) {
  const auto refused = [](Json settings, const std::string& message) {
    expect_error(ErrorKind::model, "post_processor: " + message, [&] { processor(settings); });
  };
  Json without = one_template;
  without["special_tokens"] = Json::object();
  refused(without, "single[0].SpecialToken.id: expected a name in special_tokens, found <s>");
  Json second = one_template;
  second["single"] = Json::array({sequence("B", 0)});
  refused(second, "single: expected the sequence A alone, found B");
  Json uneven = one_template;
  uneven["special_tokens"]["<s>"]["ids"] = Json::array({7});
  refused(uneven, "special_tokens.<s>.ids: expected as many as tokens, 2, found 1");
  refused({{"type", "Sequence"}, {"processors", {one_template, one_template}}},
          "processors[1].type: expected one template in a sequence, found another one");
}

Json truncation(int length, const std::string& strategy, const std::string& direction) {
  return {{"max_length", length}, {"strategy", strategy}, {"direction", direction}, {"stride", 0}};
}

JsonTokenizer letters(const Json& sections) {
  Json all = sections;
  all["pre_tokenizer"] = {{"type", "FixedLength"}, {"length", 1}};
  return small_tokenizer(word_level({"[UNK]", "a", "b", "c", "d", "e"}), all);
}

TEST(Truncation, ShortensATextAtItsEndOrItsBeginning) {
  EXPECT_EQ(letters({{"truncation", truncation(2, "LongestFirst", "Right")}}).encode("abc").ids,
            (Ids{1, 2}));
  EXPECT_EQ(letters({{"truncation", truncation(2, "LongestFirst", "Left")}}).encode("abc").ids,
            (Ids{2, 3}));
}

TEST(Truncation, ShortensTheLongerTextOfAPairFirst) {
  const auto pair = [](int length, const std::string& first, const std::string& second) {
    return letters({{"truncation", truncation(length, "LongestFirst", "Right")}})
        .encode_pair(first, second)
        .ids;
  };
  EXPECT_EQ(pair(4, "a", "bcde"), (Ids{1, 2, 3, 4}));
  EXPECT_EQ(pair(3, "abc", "cde"), (Ids{1, 3, 4}));
  EXPECT_EQ(pair(5, "abcde", "a"), (Ids{1, 2, 3, 4, 1}));
}

TEST(Truncation, RefusesWhatItsStrategyCannotShorten) {
  expect_error(ErrorKind::model,
               "tokenizer.json: truncation.max_length: expected a text that the strategy can "
               "shorten by 2 tokens, found one of 0",
               [] {
                 letters({{"truncation", truncation(1, "OnlySecond", "Right")}}).encode("abc");
               });
}

TEST(Padding, FillsATextUpOnEitherSide) {
  const auto padded = [](const Json& padding) {
    return letters({{"padding", padding}}).encode("ab");
  };
  const Encoding fixed = padded({{"strategy", {{"Fixed", 4}}},
                                 {"direction", "Right"},
                                 {"pad_id", 5},
                                 {"pad_type_id", 1},
                                 {"pad_token", "e"}});
  EXPECT_EQ(fixed.ids, (Ids{1, 2, 5, 5}));
  EXPECT_EQ(fixed.type_ids, (Ids{0, 0, 1, 1}));
  EXPECT_EQ(fixed.attention_mask, (Ids{1, 1, 0, 0}));
  EXPECT_EQ(fixed.special_mask, (Ids{0, 0, 1, 1}));
  const Encoding multiple =
      padded({{"strategy", "BatchLongest"}, {"direction", "Left"}, {"pad_to_multiple_of", 3}});
  EXPECT_EQ(multiple.ids, (Ids{0, 1, 2}));
  EXPECT_EQ(multiple.attention_mask, (Ids{0, 1, 1}));
}

}  // namespace
}  // namespace heed::text
