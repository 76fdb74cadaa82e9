#include "heed/text/tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <thread>

#include "heed/base/error.h"
#include "heed/text/message_reader.h"
#include "support/multi30k.h"
#include "support/temporary_folder.h"
#include "text/lower_case_tokenizer.h"

namespace heed::text {
namespace {

using Lines = std::vector<std::string>;

constexpr Subwords all_subwords[] = {Subwords::bpe, Subwords::unigram, Subwords::word,
                                     Subwords::character, Subwords::byte};

// What sample_lines() can fill: unigram drops pieces that it finds no use for.
int sample_vocabulary(Subwords subwords) { return subwords == Subwords::unigram ? 50 : 100; }

Lines sample_lines() {
  const Lines subjects = {"a man", "two young girls", "the old dog", "eine frau", "der schläger"};
  const Lines verbs = {"is running", "stand talking", "springt", "läuft", "plays guitar"};
  const Lines places = {"on the beach .", "in front of a store .", "über die straße .",
                        "near some trees .", "in a red t-shirt ."};
  Lines lines;
  for (const auto& subject : subjects) {
    for (const auto& verb : verbs) {
      for (const auto& place : places) lines.push_back(subject + " " + verb + " " + place);
    }
  }
  return lines;
}

template <typename Work>
Error error_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return Error(ErrorKind::failed, "");
}

TEST(Subwords, HaveNames) {
  for (const Subwords subwords : all_subwords) EXPECT_NE(name_of(subwords), "");
  EXPECT_EQ(name_of(Subwords::character), "char");
}

TEST(Tokenizer, GivesItsTrainingTextBackForEveryKindOfPiece) {
  const Lines lines = sample_lines();
  for (const Subwords subwords : all_subwords) {
    SCOPED_TRACE(name_of(subwords));
    const auto tokenizer =
        Tokenizer::train(lines, {.vocabulary = sample_vocabulary(subwords), .subwords = subwords});
    EXPECT_EQ(tokenizer.subwords(), subwords);
    for (const std::string& line : lines) {
      const auto ids = tokenizer.encode(line);
      EXPECT_EQ(std::count(ids.begin(), ids.end(), own_tokens::unknown), 0);
      ASSERT_EQ(tokenizer.decode(ids), line);
    }
  }
}

TEST(Tokenizer, GivesARunningTextBackWithItsLineEndsAndSpaces) {
  for (const Subwords subwords :
       {Subwords::bpe, Subwords::unigram, Subwords::character, Subwords::byte}) {
    SCOPED_TRACE(name_of(subwords));
    const auto tokenizer = Tokenizer::train(
        sample_lines(), {.vocabulary = 50, .subwords = subwords, .is_running_text = true});
    for (const std::string& text :
         {std::string("a man\nis running\n\n on the beach .\n"), std::string("\n"),
          std::string(" der  hund "), std::string("eine frau")}) {
      const auto ids = tokenizer.encode(text);
      EXPECT_EQ(std::count(ids.begin(), ids.end(), own_tokens::unknown), 0);
      EXPECT_EQ(tokenizer.decode(ids), text);
    }
    EXPECT_EQ(tokenizer.encode("\n").size(), 1);
  }
}

TEST(Tokenizer, OfARunningTextCutsLinesAsTheWholeText) {
  for (const Subwords subwords : {Subwords::bpe, Subwords::unigram}) {
    const auto tokenizer = Tokenizer::train(
        sample_lines(), {.vocabulary = 50, .subwords = subwords, .is_running_text = true});
    std::vector<int> by_lines = tokenizer.encode("the old dog springt");
    for (const int id : tokenizer.encode("\n")) by_lines.push_back(id);
    for (const int id : tokenizer.encode("near some trees .")) by_lines.push_back(id);
    EXPECT_EQ(tokenizer.encode("the old dog springt\nnear some trees ."), by_lines);
  }
}

TEST(Tokenizer, RefusesARunningTextInWords) {
  const Error error = error_of([] {
    Tokenizer::train(sample_lines(), {.subwords = Subwords::word, .is_running_text = true});
  });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
}

TEST(Tokenizer, OfBytesKnowsEveryText) {
  const auto tokenizer = Tokenizer::train({}, {.subwords = Subwords::byte});
  EXPECT_EQ(tokenizer.size(), 260);
  EXPECT_EQ(tokenizer.subwords(), Subwords::byte);
  const std::string text = "a\tb\nc \u2581 \u2585 \U0001f600\u00df";
  const auto ids = tokenizer.encode(text);
  EXPECT_EQ(ids.size(), text.size());
  EXPECT_EQ(ids.front(), 4 + 'a');
  EXPECT_EQ(tokenizer.byte(4 + 'a'), 'a');
  EXPECT_EQ(tokenizer.byte(own_tokens::end), std::nullopt);
  EXPECT_EQ(tokenizer.decode(ids), text);
}

// Other programs look for these ids in the model.
TEST(Tokenizer, OfAnyKindNamesItsSpecialIdsInTheModel) {
  for (const Subwords subwords : all_subwords) {
    SCOPED_TRACE(name_of(subwords));
    const auto tokenizer = Tokenizer::train(
        sample_lines(), {.vocabulary = sample_vocabulary(subwords), .subwords = subwords});
    MessageReader model(tokenizer.bytes());
    ASSERT_TRUE(model.find(2));  // the trainer's options
    std::map<std::uint64_t, std::uint64_t> numbers;
    for (MessageReader options(model.content); options.next();) {
      numbers[options.field] = options.number;
    }
    EXPECT_EQ(numbers[40], static_cast<std::uint64_t>(own_tokens::unknown));
    EXPECT_EQ(numbers[41], static_cast<std::uint64_t>(own_tokens::begin));
    EXPECT_EQ(numbers[42], static_cast<std::uint64_t>(own_tokens::end));
    EXPECT_EQ(numbers[43], static_cast<std::uint64_t>(own_tokens::pad));
  }
}

TEST(Tokenizer, HasExactlyTheVocabularyThatWasAskedFor) {
  for (const Subwords subwords : {Subwords::bpe, Subwords::unigram}) {
    for (const int vocabulary : {45, 50}) {
      const auto tokenizer =
          Tokenizer::train(sample_lines(), {.vocabulary = vocabulary, .subwords = subwords});
      EXPECT_EQ(tokenizer.size(), vocabulary) << name_of(subwords);
    }
  }
}

TEST(Tokenizer, PutsTheFourSpecialPiecesFirstAndNeverEncodesToThem) {
  const auto tokenizer = Tokenizer::train(sample_lines(), {.vocabulary = 100});
  EXPECT_EQ(tokenizer.piece(own_tokens::pad), "<pad>");
  EXPECT_EQ(tokenizer.piece(own_tokens::unknown), "<unk>");
  EXPECT_EQ(tokenizer.piece(own_tokens::begin), "<s>");
  EXPECT_EQ(tokenizer.piece(own_tokens::end), "</s>");
  for (const int id : tokenizer.encode("a dog <s> </s> <pad>")) {
    EXPECT_TRUE(id > own_tokens::end || id == own_tokens::unknown) << id;
  }

  std::vector<int> ids = tokenizer.encode("the old dog");
  ids.insert(ids.begin(), own_tokens::begin);
  ids.insert(ids.end(), {own_tokens::end, own_tokens::pad});
  EXPECT_EQ(tokenizer.decode(ids), "the old dog");
}

TEST(Tokenizer, KeepsSpacesTabsAndUnusualCharacters) {
  const Lines lines = {"  two  leading and  trailing  ", "tab\there", "ﬁ ½ Å \u00a0 ① Ａ é",
                       "zero\u200bwidth", "\"quotes\", commas"};
  for (const Subwords subwords : {Subwords::bpe, Subwords::unigram, Subwords::character}) {
    SCOPED_TRACE(name_of(subwords));
    const auto tokenizer = Tokenizer::train(lines, {.vocabulary = 37, .subwords = subwords});
    for (const std::string& line : lines) EXPECT_EQ(tokenizer.decode(tokenizer.encode(line)), line);
  }
}

TEST(Tokenizer, LearnsTheCharactersOfTheNamesOfItsSpecialPieces) {
  const Lines lines = {"one </s> two <unk> three", "<s>", "x<pad>y <<s>s> <unk><unk> <s"};
  for (const bool is_running_text : {false, true}) {
    for (const Subwords subwords : {Subwords::bpe, Subwords::unigram, Subwords::character}) {
      SCOPED_TRACE(name_of(subwords));
      const auto tokenizer =
          Tokenizer::train(lines, {.vocabulary = subwords == Subwords::character ? 40 : 25,
                                   .subwords = subwords,
                                   .is_running_text = is_running_text});
      for (const std::string& line : lines) {
        const std::vector<int> ids = tokenizer.encode(line);
        EXPECT_EQ(tokenizer.decode(ids), line);
        EXPECT_TRUE(std::ranges::all_of(ids, [](int id) { return id > own_tokens::end; })) << line;
      }
      for (int id = own_tokens::end + 1; id < tokenizer.size(); ++id) {
        EXPECT_EQ(tokenizer.piece(id).find('\t'), std::string::npos) << tokenizer.piece(id);
      }
    }
  }
}

TEST(Tokenizer, TurnsNothingIntoNothing) {
  const auto tokenizer = Tokenizer::train(sample_lines(), {.vocabulary = 100});
  EXPECT_TRUE(tokenizer.encode("").empty());
  EXPECT_EQ(tokenizer.decode({}), "");
}

TEST(Tokenizer, MarksWhatItNeverSawAsUnknown) {
  const auto tokenizer = Tokenizer::train(sample_lines(), {.vocabulary = 100});
  const auto ids = tokenizer.encode("a 猫 man");
  EXPECT_EQ(std::count(ids.begin(), ids.end(), own_tokens::unknown), 1);
  EXPECT_EQ(tokenizer.decode(ids), "a  ⁇  man");
}

TEST(Tokenizer, IsLearnedPastBlankLines) {
  Lines lines = sample_lines();
  const auto expected = Tokenizer::train(lines, {.vocabulary = 100});
  lines.insert(lines.begin(), {"", "   "});
  lines.push_back("");
  EXPECT_EQ(Tokenizer::train(lines, {.vocabulary = 100}).bytes(), expected.bytes());
}

TEST(Tokenizer, IsLearnedFromLongLinesAndPastReservedCharacters) {
  Lines lines = {"ω"};
  for (int i = 0; i < 600; ++i) lines.back() += " häuser und straßen";
  lines.push_back("q\u2585ü" + std::string("\0", 1) + "ö");
  for (const Subwords subwords : {Subwords::bpe, Subwords::unigram, Subwords::character}) {
    SCOPED_TRACE(name_of(subwords));
    const auto tokenizer = Tokenizer::train(lines, {.vocabulary = 22, .subwords = subwords});
    for (const std::string& text : {std::string("q ü ö"), lines[0]}) {
      EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
    }
  }
}

// SentencePiece alone would end the process here.
TEST(Tokenizer, IsLearnedFromAWordOfSeventyThousandCharacters) {
  Lines lines(1, std::string(70000, 'x'));
  lines[0] += "é";
  const auto tokenizer = Tokenizer::train(lines, {.vocabulary = 10});
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(lines[0])), lines[0]);
}

TEST(Tokenizer, GivesTheSameBytesEveryTime) {
  for (const Subwords subwords : all_subwords) {
    const TokenizerOptions options{.vocabulary = sample_vocabulary(subwords), .subwords = subwords};
    EXPECT_EQ(Tokenizer::train(sample_lines(), options).bytes(),
              Tokenizer::train(sample_lines(), options).bytes())
        << name_of(subwords);
  }
}

TEST(Tokenizer, RefusesAVocabularyThatTheTextCannotFillAndSaysWhatItCan) {
  const Lines lines = {"the cat sat on the mat", "the dog sat on the log"};
  for (const auto& [kind, largest] :
       {std::pair(Subwords::bpe, 47), std::pair(Subwords::unigram, 19)}) {
    const Subwords subwords = kind;  // Clang 14 captures no structured bindings
    SCOPED_TRACE(name_of(subwords));
    const Error error =
        error_of([&] { Tokenizer::train(lines, {.vocabulary = 10000, .subwords = subwords}); });
    EXPECT_EQ(error.kind(), ErrorKind::data);
    EXPECT_EQ(error.what(), "vocabulary: 10000 is more than the text allows, which is " +
                                std::to_string(largest));
    EXPECT_EQ(Tokenizer::train(lines, {.vocabulary = largest, .subwords = subwords}).size(),
              largest);
  }
}

TEST(Tokenizer, TakesALargeVocabularyOfWordsOrCharactersAsAnUpperBound) {
  const Lines lines = {"the cat sat on the mat", "the dog sat on the log"};
  EXPECT_EQ(Tokenizer::train(lines, {.vocabulary = 10000, .subwords = Subwords::word}).size(),
            4 + 7);
  EXPECT_EQ(Tokenizer::train(lines, {.vocabulary = 10000, .subwords = Subwords::character}).size(),
            4 + 13);
}

TEST(Tokenizer, RefusesAVocabularyTooSmallForTheCharacters) {
  const Error error = error_of([] {
    Tokenizer::train(Lines{"the cat sat on the mat", "the dog sat on the log"}, {.vocabulary = 16});
  });
  EXPECT_EQ(error.kind(), ErrorKind::data);
  EXPECT_STREQ(error.what(),
               "vocabulary: 16 is too small, the text has 13 different characters and needs at "
               "least 17");
  EXPECT_EQ(error_of([] { Tokenizer::train(sample_lines(), {.vocabulary = 4}); }).kind(),
            ErrorKind::usage);
}

TEST(Tokenizer, FitsItsVocabularyToTheTextWhenAskedTo) {
  const Lines lines = {"the cat sat on the mat", "the dog sat on the log"};
  EXPECT_EQ(Tokenizer::train(lines, {.vocabulary = 10000, .fit_vocabulary = true}).size(), 47);
  EXPECT_EQ(Tokenizer::train(lines, {.vocabulary = 30, .fit_vocabulary = true}).size(), 30);
  EXPECT_EQ(Tokenizer::train(lines, {.vocabulary = 16, .fit_vocabulary = true}).size(), 17);
}

TEST(Tokenizer, RefusesToLearnFromNothing) {
  for (const Lines& lines : {Lines{}, Lines{"", "  "}}) {
    const Error error = error_of([&] { Tokenizer::train(lines, {}); });
    EXPECT_EQ(error.kind(), ErrorKind::data);
    EXPECT_STREQ(error.what(), "vocabulary: expected text to learn from, found none");
  }
}

TEST(Tokenizer, ComesBackFromItsBytesAndFromAFile) {
  const auto tokenizer =
      Tokenizer::train(sample_lines(), {.vocabulary = 50, .subwords = Subwords::unigram});
  const TemporaryFolder folder;
  const auto loaded = Tokenizer::load(folder.write("tokenizer.model", tokenizer.bytes()));

  EXPECT_EQ(loaded.bytes(), tokenizer.bytes());
  EXPECT_EQ(loaded.subwords(), Subwords::unigram);
  EXPECT_EQ(loaded.encode("two girls"), tokenizer.encode("two girls"));
  EXPECT_EQ(Tokenizer::from_bytes(tokenizer.bytes()).size(), tokenizer.size());
}

// SentencePiece merges the parts of a message.
TEST(Tokenizer, TakesTheLastValueOfAModelInSeveralParts) {
  const auto tokenizer = Tokenizer::train(sample_lines(), {.vocabulary = 60});
  ASSERT_EQ(tokenizer.subwords(), Subwords::bpe);
  const std::string of_characters{3 << 3, 4};
  const auto other = Tokenizer::from_bytes(tokenizer.bytes() + message_field(2, of_characters));
  EXPECT_EQ(other.subwords(), Subwords::character);
  EXPECT_EQ(other.decode(other.encode("the old dog")), "the old dog");
}

TEST(Tokenizer, RefusesWhatIsNotAModel) {
  const std::string bytes = Tokenizer::train(sample_lines(), {.vocabulary = 100}).bytes();
  for (const std::string& bad : {std::string(), std::string("not a model"), bytes.substr(0, 500)}) {
    const Error error = error_of([&] { Tokenizer::from_bytes(bad, "m/tokenizer.model"); });
    EXPECT_EQ(error.kind(), ErrorKind::model);
    EXPECT_STREQ(error.what(), "m/tokenizer.model: not a SentencePiece model");
  }
  EXPECT_EQ(error_of([] { Tokenizer::load("/no/such/tokenizer.model"); }).kind(), ErrorKind::model);
}

TEST(Tokenizer, NamesTheFileThatCannotBeRead) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& path, const std::string& reason) {
    const Error error = error_of([&] { Tokenizer::load(path); });
    EXPECT_EQ(error.kind(), ErrorKind::model);
    EXPECT_EQ(std::string(error.what()), path + ": " + reason);
  };
  refused(folder.path(), "expected a file, found a folder");
  refused("/dev/zero", "expected a file, found a device");
  refused("/proc/self/mem", "cannot be read: Input/output error");
  const std::string sparse = folder.write("tokenizer.model", "");
  std::filesystem::resize_file(sparse, std::uintmax_t{3} << 30);
  refused(sparse, "expected a file of at most 67108864 bytes, found 3221225472");
}

TEST(Tokenizer, RefusesMorePiecesThanAnyVocabularyHas) {
  std::string pieces;
  for (int i = 0; i <= 1 << 22; ++i) pieces += std::string("\x0a\x00", 2);
  EXPECT_EQ(std::string(error_of([&] { Tokenizer::from_bytes(pieces, "t"); }).what()),
            "t: expected at most 4194304 pieces, found 4194305");
}

TEST(Tokenizer, HasAMaskWhenAskedForAndOnlyThen) {
  for (const Subwords subwords : {Subwords::bpe, Subwords::unigram, Subwords::character}) {
    SCOPED_TRACE(name_of(subwords));
    TokenizerOptions options{.vocabulary = sample_vocabulary(subwords), .subwords = subwords};
    EXPECT_EQ(Tokenizer::train(sample_lines(), options).mask(), std::nullopt);
    options.with_mask = true;
    const auto tokenizer = Tokenizer::train(sample_lines(), options);
    ASSERT_TRUE(tokenizer.mask().has_value());
    EXPECT_EQ(tokenizer.piece(*tokenizer.mask()), Tokenizer::mask_piece);
    const auto ids = tokenizer.encode("the old<mask> dog");
    EXPECT_EQ(std::ranges::count(ids, *tokenizer.mask()), 1);
    EXPECT_EQ(tokenizer.decode(ids), "the old<mask> dog");
    EXPECT_EQ(std::ranges::count(tokenizer.encode("the old mask dog"), *tokenizer.mask()), 0);
  }
}

TEST(Tokenizer, OfWordsHasAMaskAndOneOfBytesRefusesIt) {
  const auto words = Tokenizer::train(
      sample_lines(), {.vocabulary = 100, .subwords = Subwords::word, .with_mask = true});
  ASSERT_TRUE(words.mask().has_value());
  EXPECT_EQ(words.piece(*words.mask()), Tokenizer::mask_piece);
  const Error error = error_of(
      [] { Tokenizer::train(sample_lines(), {.subwords = Subwords::byte, .with_mask = true}); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
}

TEST(Tokenizer, RefusesIdsOutsideTheVocabulary) {
  const auto tokenizer = Tokenizer::train(sample_lines(), {.vocabulary = 100});
  EXPECT_THROW(tokenizer.decode(std::vector{5, 100}), Error);
  EXPECT_THROW(tokenizer.decode(std::vector{-1}), Error);
  EXPECT_THROW(tokenizer.piece(100), Error);
}

TEST(Tokenizer, GivesMulti30kBack) {
  const std::vector<std::string> lines = multi30k_lines();
  if (lines.empty()) GTEST_SKIP() << "HEED_DATA names no folder with multi30k";

  const auto tokenizer = Tokenizer::train(lines, {.vocabulary = 10000});
  EXPECT_EQ(tokenizer.size(), 10000);
  for (const std::string& line : lines) ASSERT_EQ(tokenizer.decode(tokenizer.encode(line)), line);
}

TEST(Tokenizer, ServesManyThreadsAtOnce) {
  const Lines lines = sample_lines();
  const auto tokenizer = Tokenizer::train(lines, {.vocabulary = 100});
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t, copy = tokenizer] {
      for (const auto& line : lines) wrong[t] += copy.decode(copy.encode(line)) != line;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

}  // namespace
}  // namespace heed::text
