// An answer depends on its line and on the model alone: not on the other lines, their order, the
// batches, the threads, nor on whether the program or the library was asked.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <sstream>

#include "cli/untrained_models.h"
#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/cli/classify_command.h"
#include "heed/cli/embed_command.h"
#include "heed/cli/fill_command.h"
#include "heed/cli/generate_command.h"
#include "heed/cli/one_line.h"
#include "heed/cli/score_command.h"
#include "heed/cli/translate_command.h"
#include "heed/infer/fill_mask.h"
#include "heed/infer/line_classifier.h"
#include "heed/infer/scoring.h"
#include "heed/infer/sentence_encoder.h"
#include "heed/infer/translator.h"

namespace heed::cli {
namespace {

using nlohmann::json;
using Lines = std::vector<std::string>;

Lines lines_of(const std::string& text) {
  std::istringstream in(text);
  Lines lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// One line of output for each line of input.
template <typename Options>
Lines run(int (*command)(const Options&, std::istream&, std::ostream&), const Options& options,
          const Lines& input) {
  std::string text;
  for (const std::string& line : input) text += line + '\n';
  std::istringstream in(text);
  std::ostringstream out;
  EXPECT_EQ(command(options, in, out), 0);
  Lines output = lines_of(out.str());
  EXPECT_EQ(output.size(), input.size());
  output.resize(input.size());
  return output;
}

// Every line has a mask, so there are no warnings.
int fill_masks(const FillOptions& options, std::istream& in, std::ostream& out) {
  std::ostringstream log;
  const int code = fill(options, in, out, log);
  EXPECT_EQ(log.str(), "");
  return code;
}

// Without the number of the line, the one thing that may differ.
Lines without_numbers(Lines objects) {
  for (std::string& line : objects) {
    json object = json::parse(line);
    object.erase("line");
    line = object.dump();
  }
  return objects;
}

// A command with its options: lines in, lines out.
struct Answers {
  std::string name;
  std::function<Lines(const Lines& input, Index batch_tokens)> to;
};

std::string masked_line(std::string line) {
  const std::size_t space = line.find(' ');
  return space == line.npos ? line + " <mask>" : line.replace(space + 1, 1, "<mask>");
}

std::vector<Answers> all_answers(const UntrainedModels& models) {
  const auto translations = [&models](TranslateOptions options) {
    options.model = models.translation();
    options.max_length = 6;
    return [options](const Lines& input, Index batch_tokens) mutable {
      options.batch_tokens = batch_tokens;
      const Lines output = run(translate, options, input);
      return options.json ? without_numbers(output) : output;
    };
  };
  const auto scores = [](const std::string& model) {
    return [model](const Lines& input, Index batch_tokens) {
      return run(
          score,
          ScoreOptions{.model = model, .tokens = true, .json = true, .batch_tokens = batch_tokens},
          input);
    };
  };
  return {
      {"translate, greedy", translations({.beam_size = 1})},
      {"translate, beam", translations({.beam_size = 4, .alignment = true, .scores = true})},
      {"translate, n-best",
       translations({.beam_size = 4, .n_best = 3, .coverage_penalty = 0.2, .json = true})},
      {"generate, greedy",
       [&models](const Lines& input, Index) {
         GenerateOptions options{.model = models.language(), .json = true};
         options.decoding.temperature = 0;
         options.decoding.max_tokens = 70;  // more than the context
         return run(generate, options, input);
       }},
      {"classify",
       [&models](const Lines& input, Index batch_tokens) {
         return run(classify,
                    ClassifyOptions{.model = models.classifier(),
                                    .top = 3,
                                    .json = true,
                                    .batch_tokens = batch_tokens},
                    input);
       }},
      {"embed",
       [&models](const Lines& input, Index batch_tokens) {
         return run(embed,
                    EmbedOptions{.model = models.translation(), .batch_tokens = batch_tokens},
                    input);
       }},
      {"fill",
       [&models](const Lines& input, Index batch_tokens) {
         Lines masked = input;
         std::ranges::transform(masked, masked.begin(), masked_line);
         return run(
             fill_masks,
             FillOptions{.model = models.masked(), .json = true, .batch_tokens = batch_tokens},
             masked);
       }},
      {"score", scores(models.language())},
      {"score, pairs",
       [scores = scores(models.translation())](const Lines& input, Index batch_tokens) {
         Lines pairs = input;
         for (std::string& line : pairs) line += '\t' + line.substr(line.size() / 2);
         return scores(pairs, batch_tokens);
       }},
  };
}

Lines sample_lines(std::size_t count) {
  static const Lines words{"one", "two", "three", "four", "a", "bat", "lives", "in", "the", "cave"};
  Rng rng(3);
  Lines lines;
  while (lines.size() < count) {
    std::string line = words[rng.below(words.size())];
    for (std::uint64_t more = rng.below(6); more > 0; --more) {
      line += ' ' + words[rng.below(words.size())];
    }
    lines.push_back(line);
  }
  return lines;
}

// Puts the number of threads back when a test ends.
class SameBits : public testing::Test {
 protected:
  ~SameBits() override { set_num_threads(before_); }

  const UntrainedModels models_;

 private:
  int before_ = num_threads();
};

TEST_F(SameBits, ALineHasOneAnswerAloneAndAmongOthers) {
  const Lines lines = sample_lines(70);
  for (const Answers& answers : all_answers(models_)) {
    SCOPED_TRACE(answers.name);
    const Lines together = answers.to(lines, 2048);
    for (std::size_t i = 0; i < 10; ++i) {
      EXPECT_EQ(answers.to({lines[i]}, 2048).front(), together[i]) << lines[i];
    }
    for (const std::size_t count : {1u, 3u, 64u}) {
      const Lines some(lines.begin() + 5, lines.begin() + 5 + static_cast<std::ptrdiff_t>(count));
      const Lines found = answers.to(some, 2048);
      EXPECT_TRUE(std::ranges::equal(found, std::span(together).subspan(5, count))) << count;
    }
  }
}

TEST_F(SameBits, NeitherBatchesNorThreadsChangeAnAnswer) {
  const Lines lines = sample_lines(24);
  for (const Answers& answers : all_answers(models_)) {
    SCOPED_TRACE(answers.name);
    set_num_threads(1);
    const Lines expected = answers.to(lines, 1);  // a batch for each line
    for (const int threads : {1, 2, 3, 4, 7}) {
      set_num_threads(threads);
      for (const Index batch_tokens : {1, 48, 100'000}) {
        EXPECT_EQ(answers.to(lines, batch_tokens), expected) << threads << ' ' << batch_tokens;
      }
    }
  }
}

TEST_F(SameBits, TheOrderOfLinesChangesTheOrderOfAnswersAlone) {
  const Lines lines = sample_lines(24);
  std::vector<std::size_t> order(lines.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Rng rng(8);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  Lines shuffled;
  for (const std::size_t i : order) shuffled.push_back(lines[i]);
  for (const Answers& answers : all_answers(models_)) {
    SCOPED_TRACE(answers.name);
    const Lines expected = answers.to(lines, 60), found = answers.to(shuffled, 60);
    for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(found[i], expected[order[i]]);
  }
}

// Its random numbers depend on the number of its prompt too.
TEST_F(SameBits, ASampledTextIsTheSameForAnyThreadsAndAlone) {
  const Lines prompts = sample_lines(20);
  GenerateOptions options{.model = models_.language(), .json = true};
  options.decoding.max_tokens = 20;
  options.decoding.num_samples = 1;
  set_num_threads(1);
  const Lines expected = run(generate, options, prompts);
  for (const int threads : {2, 3, 4, 7}) {
    set_num_threads(threads);
    EXPECT_EQ(run(generate, options, prompts), expected) << threads;
  }
  const auto generator = infer::TextGenerator::load(models_.language());
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    options.generation.first_prompt = static_cast<Index>(i) + 1;
    EXPECT_EQ(generator.generate(prompts[i], decoding_options(options, generator)),
              json::parse(expected[i])["text"]);
  }
}

TEST_F(SameBits, TheLibraryAnswersAsTheProgramDoes) {
  const Lines lines = sample_lines(12);
  const auto translator = infer::Translator::load(models_.translation());
  const auto classifier = infer::LineClassifier::load(models_.classifier());
  const auto encoder = infer::SentenceEncoder::load(models_.classifier());
  const auto scorer = infer::LineScorer::load(models_.language());
  const auto filler = infer::FillMask::load(models_.masked());
  const Lines translations =
      run(translate, TranslateOptions{.model = models_.translation()}, lines);
  const Lines classes =
      run(classify, ClassifyOptions{.model = models_.classifier(), .json = true}, lines);
  const Lines vectors = run(embed, EmbedOptions{.model = models_.classifier()}, lines);
  const Lines scores = run(score, ScoreOptions{.model = models_.language(), .json = true}, lines);
  Lines masked = lines;
  std::ranges::transform(masked, masked.begin(), masked_line);
  const Lines words = run(fill_masks, FillOptions{.model = models_.masked(), .json = true}, masked);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    SCOPED_TRACE(lines[i]);
    EXPECT_EQ(translations[i], on_one_line(translator.translate(lines[i])));
    const infer::ClassProbability best = classifier.classify(lines[i]);
    EXPECT_EQ(json::parse(classes[i])["classes"][0],
              (json{{"label", best.label}, {"probability", best.probability}}));
    EXPECT_EQ(vectors[i],
              fmt::format("{{\"vector\":[{}]}}", fmt::join(encoder.encode(lines[i]), ",")));
    EXPECT_EQ(json::parse(scores[i])["log_probability"], scorer.score(lines[i]).log_probability());
    const infer::MaskCandidate word = filler.fill(masked[i]).front().front();
    EXPECT_EQ(json::parse(words[i])["gaps"][0][0],
              (json{{"word", word.word}, {"probability", word.probability}}));
  }
}

}  // namespace
}  // namespace heed::cli
