#include "heed/cli/evaluate_command.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "heed/base/error.h"
#include "infer/memorised_generator.h"
#include "infer/memorised_translator.h"
#include "infer/toy_encoders.h"
#include "support/paths.h"
#include "support/temporary_folder.h"
#include "train/toy_classes.h"
#include "train/toy_images.h"

namespace heed::cli {
namespace {

std::filesystem::path data(const std::string& name) {
  return std::filesystem::path(golden_folder) / name;
}

std::string evaluate_golden_text(EvaluateOptions options) {
  options.reference = data("evaluate_references.txt");
  std::ifstream in(data("evaluate_hypotheses.txt"));
  std::ostringstream out;
  EXPECT_EQ(evaluate(options, in, out), 0);
  return out.str();
}

std::string scores_of(const EvaluateOptions& options, const std::string& hypotheses = "") {
  std::istringstream in(hypotheses);
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
  const std::string text = evaluate_golden_text({.json = true});
  EXPECT_EQ(std::ranges::count(text, '\n'), 1) << text;
  const auto json = nlohmann::json::parse(text);
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

// The expected values come from a separate program, and the stems from NLTK.
TEST(EvaluateCommand, PrintsRougeExactMatchAndSquad) {
  EXPECT_EQ(evaluate_golden_text({.metrics = {"rouge", "exact-match", "squad"}}),
            "ROUGE|nrefs:1|stem:no|agg:mean|version:0.1.2-heed = ROUGE-1 64.49 ROUGE-2 54.16 "
            "ROUGE-L 63.87 ROUGE-Lsum 63.87\n"
            "exact match|nrefs:1|case:mixed = 12.50 (2 of 16)\n"
            "SQuAD|nrefs:1|version:2.0-heed = exact match 12.50 F1 66.75\n");
  EXPECT_EQ(
      evaluate_golden_text({.lowercase = true, .stem = true, .metrics = {"exact-match", "rouge"}}),
      "exact match|nrefs:1|case:lc = 12.50 (2 of 16)\n"
      "ROUGE|nrefs:1|stem:porter|agg:mean|version:0.1.2-heed = ROUGE-1 64.94 ROUGE-2 54.64 "
      "ROUGE-L 64.31 ROUGE-Lsum 64.31\n");
}

TEST(EvaluateCommand, PrintsRougeExactMatchAndSquadAsJson) {
  const auto json = nlohmann::json::parse(
      evaluate_golden_text({.json = true, .metrics = {"rouge", "exact-match", "squad"}}));
  EXPECT_EQ(json["lines"], 16);
  EXPECT_FALSE(json.contains("bleu"));
  EXPECT_NEAR(json["rouge"]["rouge1"]["precision"], 66.052905, 1e-6);
  EXPECT_NEAR(json["rouge"]["rouge2"]["recall"], 53.338250, 1e-6);
  EXPECT_NEAR(json["rouge"]["rougeL"]["f1"], 63.866859, 1e-6);
  EXPECT_NEAR(json["rouge"]["rougeLsum"]["f1"], 63.866859, 1e-6);
  EXPECT_EQ(json["rouge"]["signature"], "nrefs:1|stem:no|agg:mean|version:0.1.2-heed");
  EXPECT_EQ(json["exact_match"]["matches"], 2);
  EXPECT_NEAR(json["exact_match"]["score"], 12.5, 1e-6);
  EXPECT_NEAR(json["squad"]["exact_match"], 12.5, 1e-6);
  EXPECT_NEAR(json["squad"]["f1"], 66.753755, 1e-6);
}

TEST(EvaluateCommand, FoldsTheCaseOfExactMatchesIfAsked) {
  const TemporaryFolder folder;
  EvaluateOptions options{.reference = folder.write("references.txt", "Yes\nno\n"),
                          .metrics = {"exact-match"}};
  EXPECT_EQ(scores_of(options, "yes \nno\n"), "exact match|nrefs:1|case:mixed = 50.00 (1 of 2)\n");
  options.lowercase = true;
  EXPECT_EQ(scores_of(options, "yes \nno\n"), "exact match|nrefs:1|case:lc = 100.00 (2 of 2)\n");
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

// A translator that knows its sentences by heart, and pairs of which it gets one word wrong.
struct SavedTranslator {
  TemporaryFolder folder;
  std::string model = folder.file("model");
  std::string source = folder.write("test.en", "two three\none\nthree one two\n");
  std::string target = folder.write("test.de", "zwei drei\neins\ndrei eins vier\n");
  SavedTranslator() {
    const models::TranslationModelFolder& known = infer::word_by_word_model();
    models::save_model_folder(model, known.model, known.tokenizer, known.generation);
  }
  EvaluateOptions options() const { return {.source = source, .target = target, .model = model}; }
};

TEST(EvaluateCommand, ScoresTheTranslationsOfAModelAsItScoresLines) {
  const SavedTranslator saved;
  const std::string by_lines =
      scores_of({.reference = saved.target}, "zwei drei\neins\ndrei eins zwei\n");
  EXPECT_EQ(scores_of(saved.options()), by_lines);
  EvaluateOptions options = saved.options();
  options.beam_size = 1;
  options.json = true;
  options.metrics = {"chrf"};
  const auto json = nlohmann::json::parse(scores_of(options));
  EXPECT_EQ(json["lines"], 3);
  EXPECT_LT(json["chrf"]["score"], 100);
  EXPECT_FALSE(json.contains("bleu"));
}

TEST(EvaluateCommand, ScoresAModelOnRecordsOfTwoFields) {
  const SavedTranslator saved;
  EvaluateOptions options{.model = saved.model};
  options.pairs = saved.folder.write(
      "test.tsv", "two three\tzwei drei\none\teins\nthree one two\tdrei eins vier\n");
  EXPECT_EQ(scores_of(options), scores_of(saved.options()));
  options.pairs = saved.folder.write("test.jsonl",
                                     "{\"de\": \"zwei drei\", \"en\": \"two three\"}\n"
                                     "{\"de\": \"eins\", \"en\": \"one\"}\n"
                                     "{\"de\": \"drei eins vier\", \"en\": \"three one two\"}\n");
  options.fields = "en,de";
  EXPECT_EQ(scores_of(options), scores_of(saved.options()));
  options.fields = "en";
  EXPECT_EQ(error_of(options, "").kind(), ErrorKind::usage);
}

TEST(EvaluateCommand, RefusesPairsThatAreNoneAndModelsThatDoNotTranslate) {
  const SavedTranslator saved;
  EvaluateOptions options = saved.options();
  options.target = saved.folder.write("short.de", "zwei drei\n");
  EXPECT_EQ(exit_code(error_of(options, "").kind()), 3);
  models::save_model_folder(saved.folder.file("masked"), infer::toy_masked_model().model,
                            infer::toy_masked_model().tokenizer);
  options = saved.options();
  options.model = saved.folder.file("masked");
  EXPECT_EQ(exit_code(error_of(options, "").kind()), 4);
}

TEST(EvaluateCommand, TellsHowOftenTheReferenceIsLikelierThanWrongTranslations) {
  const SavedTranslator saved;
  EvaluateOptions options{.model = saved.model};
  options.contrastive = saved.folder.write("test.tsv",
                                           "source\ttarget\tcontrastive\tcontrastive\tgroup\n"
                                           "two three\tzwei drei\tdrei zwei\tzwei vier\ta\n"
                                           "one\tvier\teins\t\tb\n"
                                           "one\teins\tvier\t\tb\n");
  EXPECT_EQ(scores_of(options),
            "accuracy 0.6667 (2 of 3)\n"
            "a: accuracy 1.0000 (1 of 1)\n"
            "b: accuracy 0.5000 (1 of 2)\n");
  options.json = options.normalize = true;
  const std::string text = scores_of(options);
  EXPECT_EQ(std::ranges::count(text, '\n'), 1) << text;
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["items"], 3);
  EXPECT_EQ(json["right"], 2);
  EXPECT_EQ(json["normalized"], true);
  EXPECT_EQ(json["groups"][1],
            nlohmann::json({{"group", "b"}, {"items", 2}, {"right", 1}, {"accuracy", 0.5}}));
  EXPECT_NO_THROW(evaluate_command().app()->parse("--contrastive c --model m --normalize"));
  EXPECT_THROW(evaluate_command().app()->parse("--contrastive c"), CLI::ParseError);
  EXPECT_THROW(evaluate_command().app()->parse("--pairs p --model m --normalize"), CLI::ParseError);
}

TEST(EvaluateCommand, ComparesTheAnswersToPromptsWithTheRightOnes) {
  const TemporaryFolder folder;
  models::save_model_folder(folder.file("model"), infer::rhyme_model().model,
                            infer::rhyme_model().tokenizer);
  EvaluateOptions options{.metrics = {"exact-match"}, .model = folder.file("model")};
  options.prompts =
      folder.write("test.csv", "prompt,answer\nthe bat sat in, a cave\nthe cat sat on, a hat\n");
  options.max_tokens = 7;
  EXPECT_EQ(scores_of(options), "exact match|nrefs:1|case:mixed = 50.00 (1 of 2)\n");
  options.fields = "answer,prompt";
  EXPECT_EQ(scores_of(options), "exact match|nrefs:1|case:mixed = 0.00 (0 of 2)\n");
  const SavedTranslator saved;
  options.model = saved.model;
  EXPECT_EQ(exit_code(error_of(options, "").kind()), 4);
  EXPECT_NO_THROW(evaluate_command().app()->parse("--prompts p --model m --max-tokens 9"));
  EXPECT_THROW(evaluate_command().app()->parse("--pairs p --model m --max-tokens 9"),
               CLI::ParseError);
}

// A classifier, and lines of which it gets one wrong.
struct SavedClassifier {
  TemporaryFolder folder;
  std::string model = folder.file("model");
  std::string lines =
      folder.write("lines.tsv", "warm\tthe red\ncold\ta blue\ncalm\tin green\nwarm\tthe blue in\n");
  SavedClassifier() {
    models::save_model_folder(model, infer::toy_classifier().model,
                              infer::toy_classifier().tokenizer);
  }
  EvaluateOptions options() const { return {.labelled = lines, .model = model}; }
  std::string run(const EvaluateOptions& options) const {
    std::istringstream in;
    std::ostringstream out;
    EXPECT_EQ(evaluate(options, in, out), 0);
    return out.str();
  }
};

// F1: calm 1, cold 2 * 1 / (1 + 2), warm 2 * 1 / (2 + 1).
TEST(EvaluateCommand, TellsHowOftenAClassifierIsRight) {
  const SavedClassifier saved;
  EXPECT_EQ(saved.run(saved.options()), "accuracy 0.7500 (3 of 4)\nmacro-F1 0.7778\n");
}

TEST(EvaluateCommand, FindsLabelAndTextByTheirColumns) {
  const SavedClassifier saved;
  const std::string rows = "the red\twarm\na blue\tcold\nin green\tcalm\nthe blue in\twarm\n";
  EvaluateOptions options = saved.options();
  const auto score = [&](const std::string& header, const std::string& fields) {
    options.labelled = saved.folder.write("columns.tsv", header + rows);
    options.fields = fields;
    return saved.run(options);
  };
  const std::string expected = saved.run(saved.options());
  EXPECT_EQ(score("sentence\tintent\n", ""), expected);
  EXPECT_EQ(score("what\twhich\n", "which,what"), expected);
  options.header = false;
  EXPECT_EQ(score("", "2,1"), expected);
  options.header = true;
  EXPECT_EQ(score("what\twhich\n", "2,1"), expected);
  EXPECT_NO_THROW(evaluate_command().app()->parse("--labelled l --model m --fields a,b --header"));
  EXPECT_THROW(evaluate_command().app()->parse("--text t --model m --no-header"), CLI::ParseError);
}

TEST(EvaluateCommand, PrintsTheConfusionTable) {
  const SavedClassifier saved;
  EvaluateOptions options = saved.options();
  options.confusion = true;
  EXPECT_TRUE(
      saved.run(options).ends_with("label\tcalm\tcold\twarm\n"
                                   "calm\t1\t0\t0\n"
                                   "cold\t0\t1\t0\n"
                                   "warm\t0\t1\t1\n"))
      << saved.run(options);
  options.json = true;
  const std::string text = saved.run(options);
  EXPECT_EQ(std::ranges::count(text, '\n'), 1) << text;
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["accuracy"], 0.75);
  EXPECT_EQ(json["classes"][2]["label"], "warm");
  EXPECT_EQ(json["classes"][2]["recall"], 0.5);
  EXPECT_EQ(json["confusion"], nlohmann::json({{1, 0, 0}, {0, 1, 0}, {0, 1, 1}}));
}

TEST(EvaluateCommand, RefusesLabelsThatTheClassifierDoesNotKnowAndOtherModels) {
  const SavedClassifier saved;
  EvaluateOptions options = saved.options();
  options.labelled = saved.folder.write("other.tsv", "warm\tthe red\nmild\ta green\n");
  const Error unknown = error_of(options, "");
  EXPECT_EQ(exit_code(unknown.kind()), 3);
  EXPECT_EQ(unknown.what(), options.labelled.string() +
                                ":2: expected one of the 3 labels of the model, found mild");
  models::save_model_folder(saved.folder.file("masked"), infer::toy_masked_model().model,
                            infer::toy_masked_model().tokenizer);
  options.model = saved.folder.file("masked");
  EXPECT_EQ(exit_code(error_of(options, "").kind()), 4);
}

// A tagger, and sentences of which it gets a colour wrong and finds a place too many.
struct SavedTagger {
  TemporaryFolder folder;
  std::string model = folder.file("model");
  std::string words = folder.write(
      "test.conll",
      "red B-COLOUR\nof O\nthe B-PLACE\ngreen I-PLACE\nhill I-PLACE\n\nblue O\nof B-COLOUR\n");
  SavedTagger() {
    models::save_model_folder(model, infer::toy_tagger().model, infer::toy_tagger().tokenizer);
  }
  EvaluateOptions options() const { return {.tagged = words, .model = model}; }
  std::string run(const EvaluateOptions& options) const {
    std::istringstream in;
    std::ostringstream out;
    EXPECT_EQ(evaluate(options, in, out), 0);
    return out.str();
  }
};

TEST(EvaluateCommand, TellsHowManyWordsAndEntitiesATaggerFinds) {
  const SavedTagger saved;
  EXPECT_EQ(saved.run(saved.options()),
            "accuracy 0.7143 (5 of 7 words)\n"
            "precision 0.6667, recall 0.6667, F1 0.6667 (3 entities)\n"
            "COLOUR: precision 0.5000, recall 0.5000, F1 0.5000 (2)\n"
            "PLACE: precision 1.0000, recall 1.0000, F1 1.0000 (1)\n");
}

TEST(EvaluateCommand, PrintsTheScoresOfATaggerAsJson) {
  const SavedTagger saved;
  EvaluateOptions options = saved.options();
  options.json = options.confusion = true;
  const auto json = nlohmann::json::parse(saved.run(options));
  EXPECT_EQ(json["words"], 7);
  EXPECT_EQ(json["entities"]["types"][1]["type"], "PLACE");
  EXPECT_EQ(json["tags"][3]["tag"], "O");
  EXPECT_EQ(json["confusion"],
            nlohmann::json({{1, 0, 0, 1}, {0, 1, 0, 0}, {0, 0, 2, 0}, {1, 0, 0, 1}}));
}

TEST(EvaluateCommand, RefusesTagsThatTheTaggerDoesNotKnow) {
  const SavedTagger saved;
  EvaluateOptions options = saved.options();
  options.tagged = saved.folder.write("other.conll", "red B-COLOUR\nof IN\n");
  const Error unknown = error_of(options, "");
  EXPECT_EQ(exit_code(unknown.kind()), 3);
  EXPECT_EQ(unknown.what(),
            options.tagged.string() + ":2: expected one of the 4 tags of the model, found IN");
  EXPECT_NO_THROW(evaluate_command().app()->parse("--tagged t --model m --confusion --json"));
  EXPECT_THROW(evaluate_command().app()->parse("--tagged t"), CLI::ParseError);
  EXPECT_THROW(evaluate_command().app()->parse("--tagged t --model m --fields a,b"),
               CLI::ParseError);
}

// A model, and labelled lines to score it on.
struct LabelledCase {
  TemporaryFolder folder;
  explicit LabelledCase(const models::ClassifierFolder& model) {
    models::save_model_folder(folder.file("model"), model.model, model.tokenizer);
  }
  EvaluateOptions options(const std::string& lines, EvaluateOptions options = {}) const {
    options.model = folder.file("model");
    options.labelled = folder.write("lines.tsv", lines);
    return options;
  }
  std::string scores(const std::string& lines, const EvaluateOptions& given = {}) const {
    return scores_of(options(lines, given));
  }
};

TEST(EvaluateCommand, TellsHowOftenAClassifierOfPairsIsRight) {
  const LabelledCase pairs(infer::toy_pairs());
  const std::string rows = "both\tthe red\ta red\none\ta red\tthe blue\nnone\ta red\tthe red\n";
  const std::string expected = pairs.scores(rows);
  EXPECT_TRUE(expected.starts_with("accuracy 0.6667 (2 of 3)\n")) << expected;
  EXPECT_EQ(pairs.scores("label\tpremise\thypothesis\n" + rows), expected);
  EXPECT_EQ(pairs.scores(rows, {.fields = "1,2,3"}), expected);
  EXPECT_STREQ(error_of(pairs.options(rows, {.fields = "1,2"}), "").what(),
               "`fields`: expected 3 names with a comma between them, found '1,2'");
}

TEST(EvaluateCommand, ComparesSetsOfLabels) {
  const LabelledCase sets(infer::toy_label_sets());
  const std::string rows = "warm|cold\tthe red blue in\n\ta in\ncold\tthe red in\n";
  EXPECT_EQ(sets.scores(rows),
            "micro-F1 0.6667\nmacro-F1 0.6667\nsubset accuracy 0.6667 (2 of 3)\n");
  const std::string all = sets.scores(rows, {.threshold = 0});
  EXPECT_TRUE(all.ends_with("subset accuracy 0.3333 (1 of 3)\n")) << all;
  const auto json = nlohmann::json::parse(sets.scores(rows, {.json = true}));
  EXPECT_EQ(json["labels"][0]["label"], "cold");
}

TEST(EvaluateCommand, ComparesNumbers) {
  const LabelledCase numbers(infer::toy_numbers());
  const std::string rows =
      "1400\tred red red red\n1000\tblue blue blue blue\n1250\tred blue red blue\n";
  const std::string lines = numbers.scores(rows);
  EXPECT_TRUE(lines.starts_with("Pearson 0.9")) << lines;
  EXPECT_NE(lines.find("\nSpearman 1.0000\nMSE "), std::string::npos) << lines;
  EvaluateOptions options = numbers.options(rows, {.confusion = true});
  EXPECT_EQ(error_of(options, "").what(),
            options.model +
                ": --confusion is for models that give a text one label, and this one is for "
                "regression");
}

// Of the 16 images to test, 2 lie in the wrong folder.
TEST(EvaluateCommand, TellsHowOftenAClassifierOfImagesIsRight) {
  const train::ToyImages toy;
  train::hash_after(toy.training("model"));
  std::filesystem::rename(toy.file("images/test/left/0.png"), toy.file("images/test/right/0.png"));
  std::filesystem::rename(toy.file("images/test/left/2.png"), toy.file("images/test/right/2.png"));
  std::istringstream in;
  std::ostringstream out;
  EXPECT_EQ(evaluate({.images = toy.images(), .model = toy.file("model")}, in, out), 0);
  EXPECT_TRUE(out.str().starts_with("accuracy 0.8750 (14 of 16)\n")) << out.str();
}

TEST(EvaluateCommand, TakesAReferenceOrDataOfATaskWithItsModel) {
  const auto parse = [](const char* options) { evaluate_command().app()->parse(options); };
  EXPECT_NO_THROW(parse("--labelled l --model m --confusion"));
  EXPECT_NO_THROW(parse("--images d --model m --confusion"));
  EXPECT_NO_THROW(parse("--source s --target t --model m --beam 3 --truncate --threads 1"));
  EXPECT_NO_THROW(parse("--pairs p --fields a,b --model m"));
  EXPECT_THROW(parse("--source s --target t"), CLI::ParseError);
  EXPECT_THROW(parse("--source s --model m"), CLI::ParseError);
  EXPECT_THROW(parse("--target t --model m"), CLI::ParseError);
  EXPECT_THROW(parse("--pairs p"), CLI::ParseError);
  EXPECT_THROW(parse("--source s --target t --model m --fields a,b"), CLI::ParseError);
  EXPECT_THROW(parse("--labelled l"), CLI::ParseError);
  EXPECT_THROW(parse("--images d"), CLI::ParseError);
  EXPECT_THROW(parse("--images d --labelled l --model m"), CLI::ParseError);
  EXPECT_THROW(parse("--reference r --model m"), CLI::ParseError);
  EXPECT_THROW(parse("--labelled l --model m --reference r"), CLI::ParseError);
  EXPECT_THROW(parse("--reference r --confusion"), CLI::ParseError);
  EXPECT_NO_THROW(parse("--labelled l --model m --threshold 0.3"));
  EXPECT_THROW(parse("--images d --model m --threshold 0.3"), CLI::ParseError);
}

TEST(EvaluateCommand, ReadsItsOptionsFromTheCommandLine) {
  const Command command = evaluate_command();
  EXPECT_EQ(command.name(), "evaluate");
  const auto app = command.app();
  app->parse("--reference r --tokenize none --lowercase --stem --metrics bleu,squad --json", false);
  EXPECT_EQ(app->get_option("--metrics")->results(), (std::vector<std::string>{"bleu", "squad"}));
  EXPECT_THROW(app->parse("--tokenize none", false), CLI::RequiredError);
  EXPECT_THROW(app->parse("--reference r --tokenize zh", false), CLI::ValidationError);
  EXPECT_THROW(app->parse("--reference r --metrics bleu,ter", false), CLI::ValidationError);
}

}  // namespace
}  // namespace heed::cli
