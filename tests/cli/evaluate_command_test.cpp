#include "heed/cli/evaluate_command.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "heed/base/error.h"
#include "support/temporary_folder.h"

namespace heed::cli {
namespace {

std::filesystem::path data(const std::string& name) {
  return std::filesystem::path(HEED_TEST_DATA) / name;
}

std::string evaluate_golden_text(EvaluateOptions options) {
  options.reference = data("evaluate_references.txt");
  std::ifstream in(data("evaluate_hypotheses.txt"));
  std::ostringstream out;
  EXPECT_EQ(evaluate(options, in, out), 0);
  return out.str();
}

Error error_of(const EvaluateOptions& options, const std::string& hypotheses) {
  std::istringstream in(hypotheses);
  std::ostringstream out;
  try {
    evaluate(options, in, out);
  } catch (const Error& error) {
    EXPECT_EQ(out.str(), "");
    return error;
  }
  ADD_FAILURE() << "no error";
  return Error(ErrorKind::failed, "");
}

TEST(EvaluateCommand, PrintsBothScoresAsSacrebleuDoes) {
  EXPECT_EQ(evaluate_golden_text({}),
            "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.3.1-heed = 54.13 "
            "77.0/59.2/48.1/39.2 (BP = 1.000 ratio = 1.046 hyp_len = 183 ref_len = 175)\n"
            "chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.3.1-heed = 67.35\n");
}

TEST(EvaluateCommand, TakesTokenizerCaseAndMetrics) {
  EXPECT_EQ(evaluate_golden_text({.tokenize = "intl", .lowercase = true, .metrics = {"bleu"}}),
            "BLEU|nrefs:1|case:lc|eff:no|tok:intl|smooth:exp|version:2.3.1-heed = 52.13 "
            "81.1/60.2/48.1/39.6 (BP = 0.944 ratio = 0.945 hyp_len = 190 ref_len = 201)\n");
  EXPECT_EQ(evaluate_golden_text({.lowercase = true, .metrics = {"chrf"}}),
            "chrF2|nrefs:1|case:lc|eff:yes|nc:6|nw:0|space:no|version:2.3.1-heed = 69.90\n");
}

TEST(EvaluateCommand, PrintsJsonAtFullPrecision) {
  const auto json = nlohmann::json::parse(evaluate_golden_text({.json = true}));
  EXPECT_EQ(json["lines"], 16);
  EXPECT_NEAR(json["bleu"]["score"], 54.127441, 1e-6);
  EXPECT_NEAR(json["bleu"]["precisions"][3], 39.160839, 1e-6);
  EXPECT_EQ(json["bleu"]["brevity_penalty"], 1);
  EXPECT_EQ(json["bleu"]["hypothesis_length"], 183);
  EXPECT_EQ(json["bleu"]["reference_length"], 175);
  EXPECT_EQ(json["bleu"]["signature"],
            "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.3.1-heed");
  EXPECT_NEAR(json["chrf"]["score"], 67.349972, 1e-6);
}

TEST(EvaluateCommand, RefusesDifferentLineCountsAsBadData) {
  const auto reference = data("evaluate_references.txt");
  const Error error = error_of({.reference = reference}, "one\ntwo\n");
  EXPECT_EQ(exit_code(error.kind()), 3);
  EXPECT_EQ(error.what(), "evaluate: " + reference.string() +
                              " has 16 lines but standard input has 2; expected one hypothesis "
                              "for each reference");
}

TEST(EvaluateCommand, RefusesMissingEmptyAndUnreadableText) {
  EXPECT_EQ(error_of({.reference = "/no/such/file"}, "one\n").kind(), ErrorKind::data);
  const Error bad_bytes = error_of({.reference = data("evaluate_references.txt")}, "one\n\xff\n");
  EXPECT_EQ(bad_bytes.kind(), ErrorKind::data);
  EXPECT_STREQ(bad_bytes.what(), "standard input:2: not valid UTF-8 at byte 1 (found 0xff)");

  const TemporaryFolder folder;
  const std::string empty = folder.write("empty.txt", "");
  const Error nothing = error_of({.reference = empty}, "");
  EXPECT_EQ(nothing.kind(), ErrorKind::data);
  EXPECT_EQ(nothing.what(), "evaluate: " + empty + ": expected lines of text, found none");
}

TEST(EvaluateCommand, RefusesUnknownMetricsAndTokenizersAsWrongUse) {
  const auto reference = data("evaluate_references.txt");
  const std::string hypotheses(16, '\n');
  EXPECT_EQ(error_of({.reference = reference, .metrics = {"ter"}}, hypotheses).kind(),
            ErrorKind::usage);
  EXPECT_EQ(error_of({.reference = reference, .tokenize = "zh"}, hypotheses).kind(),
            ErrorKind::usage);
}

TEST(EvaluateCommand, ReadsItsOptionsFromTheCommandLine) {
  const Command command = evaluate_command();
  EXPECT_EQ(command.name(), "evaluate");
  const auto app = command.app();
  app->parse("--reference r --tokenize none --lowercase --metrics bleu,chrf --json", false);
  EXPECT_EQ(app->get_option("--metrics")->results(), (std::vector<std::string>{"bleu", "chrf"}));
  EXPECT_THROW(app->parse("--tokenize none", false), CLI::RequiredError);
  EXPECT_THROW(app->parse("--reference r --tokenize zh", false), CLI::ValidationError);
  EXPECT_THROW(app->parse("--reference r --metrics bleu,ter", false), CLI::ValidationError);
}

}  // namespace
}  // namespace heed::cli
