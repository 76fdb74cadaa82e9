#include "heed/cli/attend_command.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "heed/base/error.h"
#include "support/temporary_folder.h"

namespace heed::cli {
namespace {

using Json = nlohmann::ordered_json;

// A folder of small CSV files.
class AttendCommand : public testing::Test {
 protected:
  AttendCommand() {
    words_ = file("words.csv", "bat,3,3\ncave,4,0\nracket,0,5\n");
    pair_ = file("pair.csv", "a,1,1\nb,-1,0\n");
    stretch_ = file("stretch.csv", "3,0\n0,1\n");
  }

  std::string file(const std::string& name, const std::string& text) {
    return folder_.write(name, text);
  }

  static std::string run(const AttendOptions& options, const std::string& input = "") {
    std::istringstream in(input);
    std::ostringstream out;
    EXPECT_EQ(attend(options, in, out), 0);
    return out.str();
  }
  static Json json(AttendOptions options) {
    options.format = "json";
    const std::string text = run(options);
    EXPECT_EQ(std::ranges::count(text, '\n'), 1) << text;
    return Json::parse(text);
  }
  // The one line that the user sees, after checking the exit code.
  static std::string error(const AttendOptions& options, int code) {
    std::istringstream in;
    std::ostringstream out;
    try {
      attend(options, in, out);
    } catch (const Error& error) {
      EXPECT_EQ(exit_code(error.kind()), code) << error.what();
      EXPECT_EQ(out.str(), "");
      return error.what();
    }
    ADD_FAILURE() << "no error";
    return "";
  }

  TemporaryFolder folder_;
  std::string words_, pair_, stretch_;
};

TEST_F(AttendCommand, CosineSimilarityOfBatCaveAndRacket) {
  const Json all = json({.words = words_, .similarity = "cosine"});
  EXPECT_EQ(all["words"], (Json{"bat", "cave", "racket"}));
  EXPECT_NEAR(all["similarity"][0][1], std::sqrt(0.5), 1e-6);
  EXPECT_NEAR(all["similarity"][0][2], std::sqrt(0.5), 1e-6);
  EXPECT_EQ(all["similarity"][1][2], 0);
  EXPECT_EQ(run({.words = words_, .similarity = "cosine"}),
            "similarity (cosine)\n"
            "         bat  cave  racket\n"
            "bat     1.00  0.71    0.71\n"
            "cave    0.71  1.00    0.00\n"
            "racket  0.71  0.00    1.00\n"
            "\n"
            "weights\n"
            "         bat  cave  racket\n"
            "bat     0.40  0.30    0.30\n"
            "cave    0.35  0.47    0.17\n"
            "racket  0.35  0.17    0.47\n"
            "\n"
            "context (the words, moved)\n"
            "           1     2\n"
            "bat     2.40  2.70\n"
            "cave    2.95  1.93\n"
            "racket  1.75  3.42\n");
}

TEST_F(AttendCommand, TheSentenceBatCavePullsBothWordsTogether) {
  const Json sentence = json({.words = words_, .similarity = "cosine", .only = {"bat", "cave"}});
  EXPECT_EQ(sentence["words"], (Json{"bat", "cave"}));
  const double kept = 1 / (1 + std::exp(std::sqrt(0.5) - 1));  // 0.57
  EXPECT_NEAR(sentence["weights"][0][0], kept, 1e-6);
  EXPECT_NEAR(sentence["weights"][0][1], 1 - kept, 1e-6);
  EXPECT_NEAR(kept, 0.57, 0.005);
  // bat moves from (3, 3) towards (4, 0), cave the other way.
  EXPECT_NEAR(sentence["context"][0][0], 3 * kept + 4 * (1 - kept), 1e-5);
  EXPECT_NEAR(sentence["context"][0][1], 3 * kept, 1e-5);
  EXPECT_NEAR(sentence["context"][1][0], 4 * kept + 3 * (1 - kept), 1e-5);
  EXPECT_NEAR(sentence["context"][1][1], 3 * (1 - kept), 1e-5);
}

TEST_F(AttendCommand, OppositeWordsBeforeAndAfterAMatrix) {
  EXPECT_NE(run({.words = pair_, .similarity = "cosine"}).find("a   1.00  -0.71\n"),
            std::string::npos);
  const Json before = json({.words = pair_, .similarity = "cosine"});
  EXPECT_NEAR(before["similarity"][0][1], -std::sqrt(0.5), 1e-6);
  EXPECT_NEAR(before["weights"][0][0], 0.85, 0.005);
  EXPECT_NEAR(before["weights"][0][1], 0.15, 0.005);
  const Json after =
      json({.words = pair_, .similarity = "cosine", .query = stretch_, .key = stretch_});
  EXPECT_NEAR(after["similarity"][0][1], -3 / std::sqrt(10.0), 1e-6);  // -0.95
  EXPECT_NEAR(after["weights"][0][0], 0.88, 0.005);
  EXPECT_NEAR(after["weights"][0][1], 0.12, 0.005);
}

TEST_F(AttendCommand, WordsOnTheAxesStayApartUnderTheMatrix) {
  const std::string axes = file("axes.csv", "x,1,0\ny,0,1\n");
  const Json found =
      json({.words = axes, .similarity = "cosine", .query = stretch_, .key = stretch_});
  EXPECT_EQ(found["similarity"][0][1], 0);
  EXPECT_EQ(found["similarity"][1][0], 0);
}

TEST_F(AttendCommand, DotAndScaledDot) {
  const std::string two = file("two.csv", "a,2,3\nb,1,4\n");
  EXPECT_EQ(json({.words = two, .similarity = "dot"})["similarity"][0][1], 14);
  EXPECT_NEAR(json({.words = two})["similarity"][0][1], 14 / std::sqrt(2.0), 1e-5);
}

TEST_F(AttendCommand, FourWordsWithoutMatricesFollowTheFormula) {
  const std::string four = file("four.csv", "a,1,0,2\nb,-1,1,0.5\nc,0,2,-1\nd,0.5,0.5,0.5\n");
  const double x[4][3] = {{1, 0, 2}, {-1, 1, 0.5}, {0, 2, -1}, {0.5, 0.5, 0.5}};
  const Json found = json({.words = four});
  for (int i = 0; i < 4; ++i) {
    double weights[4], total = 0;
    for (int j = 0; j < 4; ++j) {
      double dot = 0;
      for (int c = 0; c < 3; ++c) dot += x[i][c] * x[j][c];
      total += weights[j] = std::exp(dot / std::sqrt(3.0));
    }
    for (int c = 0; c < 3; ++c) {
      double moved = 0;
      for (int j = 0; j < 4; ++j) moved += weights[j] / total * x[j][c];
      EXPECT_NEAR(found["context"][i][c], moved, 1e-6);
    }
  }
}

TEST_F(AttendCommand, UnderACausalMaskTheFirstWordDoesNotMove) {
  const Json found = json({.words = words_, .mask = "causal"});
  EXPECT_EQ(found["context"][0], (Json{3, 3}));
  EXPECT_EQ(found["weights"][0], (Json{1, 0, 0}));
  EXPECT_EQ(found["weights"][1][2], 0);
  EXPECT_NE(found["similarity"][0][1], 0);  // similarities are shown before the mask
}

TEST_F(AttendCommand, AMaskFileSaysWhoSeesWhom) {
  const std::string mask = file("mask.csv", "0,1,0\n1,1,1\n0,0,0\n");
  const Json found = json({.words = words_, .mask = mask});
  EXPECT_EQ(found["context"][0], (Json{4, 0}));  // bat sees only cave
  EXPECT_EQ(found["weights"][2], (Json{0, 0, 0}));
  EXPECT_EQ(found["context"][2], (Json{0, 0}));  // racket sees nothing
}

TEST_F(AttendCommand, SeveralHeadsLookAtCoordinatesOfTheirOwn) {
  const std::string swap = file("swap.csv", "0,1\n1,0\n");
  const Json found = json({.words = words_, .heads = 2});
  ASSERT_EQ(found["similarity"].size(), 2u);
  ASSERT_EQ(found["weights"].size(), 2u);
  EXPECT_EQ(found["similarity"][0][0][1], 12);  // first coordinates: 3 * 4 / sqrt(1)
  EXPECT_EQ(found["similarity"][1][0][2], 15);  // second coordinates: 3 * 5
  const Json swapped = json({.words = words_, .heads = 2, .output = swap});
  EXPECT_EQ(swapped["context"][0][0], found["context"][0][1]);
  EXPECT_EQ(swapped["context"][0][1], found["context"][0][0]);
  EXPECT_NE(run({.words = words_, .heads = 2}).find("weights, head 2\n"), std::string::npos);
}

TEST_F(AttendCommand, ValuesMayHaveAnotherWidth) {
  const std::string sum = file("sum.csv", "1\n1\n");
  const Json found = json({.words = words_, .only = {"cave"}, .value = sum});
  EXPECT_EQ(found["context"], (Json{{4}}));
}

TEST_F(AttendCommand, JsonHasItsKeysInOrderAndNumbersThatReadBack) {
  const Json found = json({.words = words_, .similarity = "cosine"});
  std::vector<std::string> keys;
  for (const auto& [key, value] : found.items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"words", "similarity", "weights", "context"}));
  std::istringstream none;
  const Attended attended = attend_to_words({.words = words_, .similarity = "cosine"}, none);
  for (Index i = 0; i < 9; ++i) {
    EXPECT_EQ(found["weights"][i / 3][i % 3].get<float>(), attended.weights.values()[i]);
  }
  EXPECT_NE(run({.words = words_, .format = "json", .precision = 3}).find("10.607"),
            std::string::npos);
}

TEST_F(AttendCommand, CsvHasOneNumberALine) {
  EXPECT_EQ(run({.words = words_,
                 .similarity = "dot",
                 .only = {"cave"},
                 .format = "csv",
                 .precision = 1}),
            "part,head,word,to,value\n"
            "similarity,1,cave,cave,16.0\n"
            "weights,1,cave,cave,1.0\n"
            "context,,cave,1,4.0\n"
            "context,,cave,2,0.0\n");
}

TEST_F(AttendCommand, ReadsQuotedNamesHeadersBlanksAndStandardInput) {
  const std::string text =
      "name,x,y\r\n\"bat, the \"\"flying\"\" one\" , 1 ,+2\n\n  H\xc3\xb6hle,3,4e0\n";
  const std::string found = run({.words = "-", .format = "csv", .precision = 0}, text);
  EXPECT_NE(found.find("context,,\"bat, the \"\"flying\"\" one\",1,"), std::string::npos);
  EXPECT_NE(found.find("weights,1,H\xc3\xb6hle,H\xc3\xb6hle,"), std::string::npos);
  EXPECT_NE(run({.words = "-"}, text).find("H\xc3\xb6hle                  "), std::string::npos);
}

TEST_F(AttendCommand, ASentenceMayRepeatAWord) {
  const Json found = json({.words = words_, .only = {"bat", "cave", "bat"}});
  EXPECT_EQ(found["words"], (Json{"bat", "cave", "bat"}));
  EXPECT_EQ(found["context"][0], found["context"][2]);
}

TEST_F(AttendCommand, BadDataNamesFileLineExpectedAndFound) {
  EXPECT_EQ(error({.words = file("a.csv", "a,1,2\nb,1\n")}, 3),
            folder_.file("a.csv") + ":2: expected 3 columns, as in line 1, found 2");
  EXPECT_EQ(error({.words = file("b.csv", "a,1,2\n\nb,1,two\n")}, 3),
            folder_.file("b.csv") + ":3: expected a number in column 3, found 'two'");
  EXPECT_EQ(
      error({.words = file("c.csv", "")}, 3),
      folder_.file("c.csv") + ": expected a name and coordinates on every line, found no lines");
  EXPECT_EQ(error({.words = file("d.csv", "a\n")}, 3),
            folder_.file("d.csv") + ":1: expected a name and coordinates, found one column");
  EXPECT_EQ(error({.words = file("e.csv", "\"a,1,2\n")}, 3),
            folder_.file("e.csv") + ":1: expected a closing quote, found the end of the file");
  for (const std::string number : {"nan", "inf", "1e39", "", "0x10", "1 2"}) {
    error({.words = file("f.csv", "a," + number + ",1\n")}, 3);
  }
  error({.words = file("g.csv", ",1,2\n")}, 3);
  error({.words = file("h.csv", "a,1\xff,2\n")}, 3);
  error({.words = folder_.file("absent.csv")}, 3);
}

TEST_F(AttendCommand, MatricesThatDoNotFitAreBadData) {
  const std::string three = file("three.csv", "1,0\n0,1\n1,1\n");
  EXPECT_EQ(error({.words = words_, .query = three}, 3),
            "attend: --query: " + three + ": expected 2 rows, one for each coordinate, found 3");
  EXPECT_EQ(error({.words = words_, .query = file("wide.csv", "1,0,0\n0,1,0\n")}, 3),
            "attend: expected queries and keys with as many coordinates, found 3 and 2");
  error({.words = words_, .output = three}, 3);
  EXPECT_EQ(error({.words = words_, .mask = stretch_}, 3),
            "attend: --mask: " + stretch_ +
                ": expected 3 rows and columns, one for each word, found [2, 2]");
  error({.words = pair_, .mask = stretch_}, 3);  // a 3 is neither 0 nor 1
  error({.words = words_, .value = file("empty.csv", "\n")}, 3);
  error({.words = file("twice.csv", "a,1\na,2\n"), .only = {"a"}}, 3);
}

TEST_F(AttendCommand, HugeAndTinyVectorsHaveACosineAndAContext) {
  for (const std::string number : {"3.4e38", "1e20", "1e-22", "1e-38"}) {
    const std::string same = file("same.csv", "a," + number + ',' + number + "\nb," + number +
                                                  ",0\nc," + number + ',' + number + '\n');
    const Json all = json({.words = same, .similarity = "cosine"});
    EXPECT_NEAR(all["similarity"][0][2].get<double>(), 1, 1e-6) << number;
    EXPECT_NEAR(all["similarity"][0][1].get<double>(), std::sqrt(0.5), 1e-6) << number;
    EXPECT_NEAR(all["context"][0][0].get<double>() / std::stod(number), 1, 1e-6) << number;
  }
}

TEST_F(AttendCommand, RefusesCoordinatesWithoutAFiniteResultAndNamesTheWords) {
  const std::string huge = file("huge.csv", "a,1,0\nb,1e20,0\n");
  for (const std::string format : {"table", "json", "csv"}) {
    EXPECT_EQ(error({.words = huge, .similarity = "dot", .format = format}, 3),
              "attend: " + huge +
                  ": expected a finite similarity of 'b' and 'b', found inf (smaller coordinates "
                  "have one)");
  }
  // The similarity is fine, the product with the matrix is not.
  const std::string values = file("values.csv", "a,1,0\nb,1e30,0\n");
  const std::string grow = file("grow.csv", "1e30,0\n0,1\n");
  EXPECT_EQ(error({.words = values, .similarity = "cosine", .output = grow}, 3),
            "attend: " + values +
                ": expected a finite context of 'a', found inf (smaller coordinates have one)");
}

TEST_F(AttendCommand, RefusesMoreWordsThanItsMatricesHaveRoomFor) {
  std::string text;
  for (int word = 0; word < 4097; ++word) text += "w,1,2\n";
  const std::string many = file("many.csv", text);
  EXPECT_EQ(error({.words = many}, 3),
            "attend: " + many + ": expected at most 4096 words for 1 head, found 4097");
  EXPECT_EQ(error({.words = many, .heads = 2}, 3),
            "attend: " + many + ": expected at most 2896 words for 2 heads, found 4097");
}

TEST_F(AttendCommand, WrongUseIsSaid) {
  EXPECT_EQ(error({.words = words_, .only = {"dog"}}, 2),
            "attend: --only: expected words of " + words_ + ", found 'dog'");
  error({.words = words_, .similarity = "euclid"}, 2);
  error({.words = words_, .heads = 3}, 2);
  error({.words = words_, .heads = 0}, 2);
  error({.words = words_, .format = "xml"}, 2);
  error({.words = words_, .precision = -1}, 2);
  error({.words = "-", .query = "-"}, 2);
}

TEST_F(AttendCommand, ReadsItsOptionsFromTheCommandLine) {
  const Command command = attend_command();
  EXPECT_EQ(command.name(), "attend");
  const auto app = command.app();
  app->parse("words.csv --similarity dot --only bat,cave --heads 2 --precision 4 --format json",
             false);
  EXPECT_EQ(app->get_option("--only")->results(), (std::vector<std::string>{"bat", "cave"}));
  app->parse("--only bat,cave words.csv", false);  // the file is not a word of the sentence
  EXPECT_EQ(app->get_option("--only")->results(), (std::vector<std::string>{"bat", "cave"}));
  EXPECT_THROW(app->parse("--similarity dot", false), CLI::RequiredError);
  EXPECT_THROW(app->parse("words.csv --similarity euclid", false), CLI::ValidationError);
  EXPECT_THROW(app->parse("words.csv --format xml", false), CLI::ValidationError);
}

}  // namespace
}  // namespace heed::cli
