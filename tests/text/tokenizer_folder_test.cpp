// Tokenizers of model folders: which files there may be, and what the settings say about them.
#include <gtest/gtest.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "heed/text/encode_lines.h"
#include "heed/text/encode_words.h"
#include "heed/text/masked_text.h"
#include "heed/text/text_stream.h"
#include "heed/text/tokenizer.h"
#include "heed/text/words.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"
#include "text/lower_case_tokenizer.h"
#include "text/small_tokenizer_json.h"

namespace heed::text {
namespace {

using Ids = std::vector<int>;
using Lines = std::vector<std::string>;

const Lines& corpus() {
  static const Lines lines{"the old dog sleeps by the door", "the young cat runs to the old dog",
                           "a dog and a cat sleep", "she opens the door to the young dog"};
  return lines;
}

std::string own_model() {
  return Tokenizer::train(corpus(), {.vocabulary = 60, .subwords = Subwords::bpe}).bytes();
}

std::string streamed(const Tokenizer& tokenizer, const Ids& ids) {
  TextStream stream(tokenizer);
  std::string text;
  for (const int id : ids) text += stream.add(id);
  return text + stream.finish();
}

// --- vocab.txt

constexpr const char* bert_vocabulary =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ndog\nsleep\n##s\ncaf\n##e\n.\ncat\n";

struct BertFolder {
  explicit BertFolder(const Json& tokenizer = {{"tokenizer_class", "BertTokenizer"}},
                      const Json& config = {{"model_type", "bert"}, {"pad_token_id", 0}}) {
    folder.write("vocab.txt", bert_vocabulary);
    folder.write("config.json", config.dump());
    folder.write("tokenizer_config.json", tokenizer.dump());
  }
  Tokenizer load() const { return Tokenizer::load_folder(folder.path()); }

  TemporaryFolder folder;
};

TEST(WordPieceFolder, EncodesAndDecodesAsBertDoes) {
  const Tokenizer tokenizer = BertFolder().load();
  EXPECT_EQ(tokenizer.encode("The dog sleeps."), (Ids{5, 6, 7, 8, 11}));
  EXPECT_EQ(tokenizer.encode("Caf\u00e9 zebra"), (Ids{9, 10, 1}));
  EXPECT_EQ(tokenizer.decode(Ids{2, 5, 6, 7, 8, 11, 3, 0}), "the dog sleeps.");
  EXPECT_EQ(tokenizer.size(), 13);
  EXPECT_EQ(tokenizer.algorithm(), "wordpiece");
  EXPECT_FALSE(tokenizer.is_own());
}

TEST(WordPieceFolder, HasTheTemplateAndTheSpecialTokensOfBert) {
  const Tokenizer tokenizer = BertFolder().load();
  EXPECT_EQ(tokenizer.tokens(),
            (SpecialTokens{.pad = 0, .unknown = 1, .begin = 2, .ends = {3}, .decoder_start = 0}));
  EXPECT_EQ(encode_pairs(Lines{"the dog"}, Lines{"cat"}, tokenizer)[0], (Ids{2, 5, 6, 3, 12, 3}));
  EXPECT_EQ(tokenizer.sequence().types(Ids{2, 5, 6, 3, 12, 3}), (Ids{0, 0, 0, 0, 1, 1}));
  for (const int id : {0, 2, 3}) EXPECT_TRUE(tokenizer.is_special(id)) << id;
  for (const int id : {1, 4, 5}) EXPECT_FALSE(tokenizer.is_special(id)) << id;
}

TEST(WordPieceFolder, ObeysTheSettingsForCaseAndAccents) {
  const Tokenizer cased = BertFolder(Json{{"do_lower_case", false}}).load();
  EXPECT_EQ(cased.encode("The dog"), (Ids{1, 6}));
  EXPECT_EQ(cased.encode("caf\u00e9"), (Ids{1}));
  const Tokenizer stripped =
      BertFolder(Json{{"do_lower_case", false}, {"strip_accents", true}}).load();
  EXPECT_EQ(stripped.encode("caf\u00e9"), (Ids{9, 10}));
}

TEST(WordPieceFolder, WritesPiecesWithTheSpaceBeforeThem) {
  const Tokenizer tokenizer = BertFolder().load();
  EXPECT_TRUE(tokenizer.has_space_before());
  EXPECT_EQ(tokenizer.piece(6),
            "\u2581"
            "dog");
  EXPECT_EQ(tokenizer.piece(8), "s");
  EXPECT_EQ(tokenizer.piece(4), "[MASK]");
  EXPECT_EQ(words_of_pieces(Ids{5, 7, 8, 6}, tokenizer), (std::vector<Index>{0, 1, 1, 2}));
  EXPECT_EQ(words_of(Ids{5, 7, 8, 6}, tokenizer).texts, (Lines{"the", "sleeps", "dog"}));
  EXPECT_EQ(streamed(tokenizer, {2, 5, 6, 7, 8, 11, 3}), "the dog sleeps.");
}

TEST(WordPieceFolder, TheMaskOfAUserIsTheMaskOfTheModel) {
  const Tokenizer tokenizer = BertFolder().load();
  ASSERT_EQ(tokenizer.mask(), 4);
  for (const char* line : {"the <mask> sleeps", "the [MASK] sleeps"}) {
    const MaskedText masked = encode_masked_text(tokenizer, line, Tokenizer::mask_piece);
    EXPECT_EQ(masked.ids, (Ids{5, 4, 7, 8})) << line;
    ASSERT_EQ(masked.masks.size(), 1u) << line;
    EXPECT_EQ(masked.masks[0].place, 1);
    EXPECT_TRUE(masked.masks[0].begins_word);
  }
  const MaskedText within = encode_masked_text(tokenizer, "sleep<mask> <mask>", "<mask>");
  ASSERT_EQ(within.masks.size(), 2u);
  EXPECT_FALSE(within.masks[0].begins_word);
  EXPECT_TRUE(within.masks[1].begins_word);
}

TEST(WordPieceFolder, EncodesTaggedWordsWithinTheTemplate) {
  const EncodedWords words = encode_words(Lines{"the", "sleeps"}, BertFolder().load());
  EXPECT_EQ(words.ids, (Ids{2, 5, 7, 8, 3}));
  EXPECT_EQ(words.first_token, (std::vector<Index>{1, 2}));
}

TEST(WordPieceFolder, KeepsTheBytesOfItsFiles) {
  const BertFolder bert;
  const Tokenizer tokenizer = bert.load();
  ASSERT_EQ(tokenizer.files().size(), 2u);
  EXPECT_EQ(tokenizer.files().at("vocab.txt"), bert_vocabulary);
  EXPECT_TRUE(tokenizer.files().contains("tokenizer_config.json"));
  EXPECT_THROW(tokenizer.bytes(), Error);
}

TEST(WordPieceFolder, RefusesClassesThatItDoesNotKnow) {
  const BertFolder japanese(Json{{"tokenizer_class", "BertJapaneseTokenizer"}});
  expect_error(ErrorKind::model,
               japanese.folder.path() +
                   ": expected a tokenizer of one of BertTokenizer, DistilBertTokenizer, "
                   "ElectraTokenizer, MobileBertTokenizer, MPNetTokenizer for vocab.txt, found "
                   "BertJapaneseTokenizer",
               [&] { japanese.load(); });
  const BertFolder clip(Json::object(), {{"model_type", "clip"}});
  EXPECT_THROW(clip.load(), Error);
  const TemporaryFolder empty;
  empty.write("vocab.txt", "a\nb\n");
  EXPECT_THROW(Tokenizer::load_folder(empty.path()), Error);
}

TEST(WordPieceFolder, MpnetHasTwoSeparatorsBetweenTexts) {
  const TemporaryFolder folder;
  folder.write("vocab.txt", "<s>\n<pad>\n</s>\n[UNK]\nthe\ndog\n<mask>\n");
  folder.write("config.json", R"({"model_type": "mpnet", "pad_token_id": 1, "bos_token_id": 0,
                                  "eos_token_id": 2})");
  const Tokenizer tokenizer = Tokenizer::load_folder(folder.path());
  EXPECT_EQ(encode_pairs(Lines{"the"}, Lines{"dog"}, tokenizer)[0], (Ids{0, 4, 2, 2, 5, 2}));
  EXPECT_EQ(tokenizer.tokens().unknown, 3);
  EXPECT_EQ(tokenizer.mask(), 6);
}

// --- vocab.json and merges.txt

struct ByteBpeFolder {
  explicit ByteBpeFolder(const Json& config, const Json& tokenizer = Json::object()) {
    folder.write("vocab.json", vocabulary({"<s>",
                                           "<pad>",
                                           "</s>",
                                           "<unk>",
                                           "t",
                                           "h",
                                           "e",
                                           "\u0120",
                                           "d",
                                           "o",
                                           "g",
                                           "th",
                                           "the",
                                           "\u0120d",
                                           "\u0120do",
                                           "\u0120dog",
                                           "<|endoftext|>",
                                           "\u00c3",
                                           "\u00a9",
                                           "<mask>"})
                                   .dump());
    folder.write("merges.txt", "#version: 0.2\nt h\nth e\n\u0120 d\n\u0120d o\n\u0120do g\n");
    folder.write("config.json", config.dump());
    folder.write("tokenizer_config.json", tokenizer.dump());
  }
  Tokenizer load() const { return Tokenizer::load_folder(folder.path()); }

  TemporaryFolder folder;
};

TEST(ByteBpeFolder, EncodesAndDecodesAsGpt2Does) {
  const Tokenizer tokenizer =
      ByteBpeFolder({{"model_type", "gpt2"}, {"bos_token_id", 16}, {"eos_token_id", 16}}).load();
  EXPECT_EQ(tokenizer.encode("the dog"), (Ids{12, 15}));
  EXPECT_EQ(tokenizer.encode("the<|endoftext|>"), (Ids{12, 16}));
  EXPECT_EQ(tokenizer.decode(Ids{12, 15, 16}), "the dog");
  EXPECT_EQ(encode_lines(Lines{"the dog"}, tokenizer, LineForm::input)[0], (Ids{12, 15}));
  EXPECT_EQ(encode_lines(Lines{"the"}, tokenizer, LineForm::output)[0], (Ids{12, 16}));
  EXPECT_EQ(tokenizer.tokens().begin, 16);
  EXPECT_EQ(tokenizer.algorithm(), "bpe");
  EXPECT_FALSE(tokenizer.has_space_before());
  EXPECT_EQ(tokenizer.piece(15),
            "\u2581"
            "dog");
  EXPECT_EQ(tokenizer.mask(), 19);  // the vocabulary has one, whatever for
}

TEST(ByteBpeFolder, StreamsNoHalfCharacters) {
  const Tokenizer tokenizer = ByteBpeFolder(Json{{"model_type", "gpt2"}}).load();
  const Ids ids = tokenizer.encode("\u00e9");
  ASSERT_EQ(ids, (Ids{17, 18}));
  TextStream stream(tokenizer);
  EXPECT_EQ(stream.add(17), "");
  EXPECT_EQ(stream.add(18), "\u00e9");
  EXPECT_EQ(tokenizer.piece(17), "<0xC3>");
}

TEST(ByteBpeFolder, HasTheTemplateOfRoberta) {
  const Tokenizer tokenizer = ByteBpeFolder({{"model_type", "roberta"},
                                             {"pad_token_id", 1},
                                             {"bos_token_id", 0},
                                             {"eos_token_id", 2}})
                                  .load();
  EXPECT_EQ(encode_pairs(Lines{"the"}, Lines{"the dog"}, tokenizer)[0],
            (Ids{0, 12, 2, 2, 12, 15, 2}));
  EXPECT_FALSE(tokenizer.sequence().has_types());
  EXPECT_EQ(tokenizer.mask_text(), "<mask>");
  // It takes the space before it.
  EXPECT_EQ(encode_masked_text(tokenizer, "the <mask>", "<mask>").ids, (Ids{12, 19}));
  EXPECT_TRUE(encode_masked_text(tokenizer, "the <mask>", "<mask>").masks[0].begins_word);
  EXPECT_EQ(tokenizer.tokens().unknown, 3);
}

TEST(ByteBpeFolder, PutsTheBeginTokenOfOptBeforeAText) {
  const Tokenizer tokenizer =
      ByteBpeFolder({{"model_type", "opt"}, {"bos_token_id", 2}, {"eos_token_id", 2}},
                    {{"bos_token", "</s>"}, {"eos_token", {{"content", "</s>"}}}})
          .load();
  EXPECT_EQ(encode_lines(Lines{"the"}, tokenizer, LineForm::prompt)[0], (Ids{2, 12}));
}

TEST(ByteBpeFolder, RefusesFamiliesWithOtherRules) {
  const ByteBpeFolder clip(Json{{"model_type", "clip"}});
  EXPECT_THROW(clip.load(), Error);
}

TEST(ByteBpeFolder, NamesAMergeThatIsNone) {
  const ByteBpeFolder gpt2(Json{{"model_type", "gpt2"}});
  gpt2.folder.write("merges.txt", "t h e\n");
  try {
    gpt2.load();
    ADD_FAILURE() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::model);
    EXPECT_TRUE(std::string(error.what()).starts_with(gpt2.folder.file("vocab.json")));
  }
}

// --- Marian

// Ids in the order of the pieces of a SentencePiece model, with Marian's special ones.
Json marian_vocabulary(const Tokenizer& pieces, const Lines& codes) {
  Json ids{{"</s>", 0}, {"<unk>", 1}};
  for (const std::string& code : codes) ids[code] = ids.size();
  for (int id = pieces.size() - 1; id > 3; --id) ids[pieces.piece(id)] = ids.size();
  ids["<pad>"] = ids.size();
  return ids;
}

struct MarianFolder {
  MarianFolder()
      : source(Tokenizer::train(
            corpus(), {.vocabulary = 60, .subwords = Subwords::unigram, .fit_vocabulary = true})),
        target(Tokenizer::train(Lines{"der alte hund schl\u00e4ft", "die junge katze rennt"},
                                {.vocabulary = 40, .fit_vocabulary = true})) {
    Json ids = marian_vocabulary(source, {">>de<<"});
    ids.erase("<pad>");
    for (int id = 4; id < target.size(); ++id) {
      if (!ids.contains(target.piece(id))) ids[target.piece(id)] = ids.size();
    }
    pad = static_cast<int>(ids.size());
    ids["<pad>"] = pad;
    vocabulary = ids;
    folder.write("source.spm", source.bytes());
    folder.write("target.spm", target.bytes());
    folder.write("vocab.json", ids.dump());
    folder.write("config.json", Json{{"model_type", "marian"},
                                     {"pad_token_id", pad},
                                     {"eos_token_id", 0},
                                     {"bos_token_id", 0},
                                     {"decoder_start_token_id", pad},
                                     {"vocab_size", pad + 1}}
                                    .dump());
  }
  Tokenizer load() const { return Tokenizer::load_folder(folder.path()); }
  // The pieces of a SentencePiece model with the ids of the vocabulary.
  Ids ids_of(const Tokenizer& pieces, const std::string& text) const {
    Ids ids;
    for (const int id : pieces.encode(text)) {
      ids.push_back(vocabulary.value(pieces.piece(id), vocabulary.at("<unk>").get<int>()));
    }
    return ids;
  }

  TemporaryFolder folder;
  Tokenizer source, target;
  Json vocabulary;
  int pad = 0;
};

TEST(MarianFolder, TakesPiecesFromSentencePieceAndIdsFromTheVocabulary) {
  const MarianFolder marian;
  const Tokenizer tokenizer = marian.load();
  const Ids source = marian.ids_of(marian.source, "the old dog");
  EXPECT_EQ(tokenizer.encode("the old dog"), source);
  const Ids target = marian.ids_of(marian.target, "der alte hund");
  EXPECT_EQ(tokenizer.encode_target("der alte hund"), target);
  EXPECT_EQ(tokenizer.decode(target), "der alte hund");
  Ids ended = target;
  ended.push_back(0);
  EXPECT_EQ(encode_lines(Lines{"der alte hund"}, tokenizer, LineForm::output)[0], ended);
  ended.push_back(marian.pad);
  EXPECT_EQ(tokenizer.decode(ended), "der alte hund");
  EXPECT_EQ(streamed(tokenizer, ended), "der alte hund");
  EXPECT_EQ(tokenizer.size(), marian.pad + 1);
}

TEST(MarianFolder, ReadsALanguageCodeInFrontAsOneToken) {
  const MarianFolder marian;
  const Tokenizer tokenizer = marian.load();
  Ids expected = marian.ids_of(marian.source, " the dog");
  expected.insert(expected.begin(), marian.vocabulary.at(">>de<<").get<int>());
  EXPECT_EQ(tokenizer.encode(">>de<< the dog"), expected);
  EXPECT_EQ(tokenizer.encode(">>xx<<").front(), 1);
}

TEST(MarianFolder, StartsTargetsWithPaddingAndEndsTextsWithTheEndToken) {
  const MarianFolder marian;
  const Tokenizer tokenizer = marian.load();
  EXPECT_EQ(
      tokenizer.tokens(),
      (SpecialTokens{
          .pad = marian.pad, .unknown = 1, .begin = 0, .ends = {0}, .decoder_start = marian.pad}));
  EXPECT_EQ(tokenizer.sequence().suffix, (Ids{0}));
  EXPECT_EQ(tokenizer.mask(), std::nullopt);
}

TEST(MarianFolder, ReadsSeparateVocabularies) {
  const MarianFolder marian;
  const Json target = marian_vocabulary(marian.target, {});
  marian.folder.write("target_vocab.json", target.dump());
  marian.folder.write("tokenizer_config.json", R"({"separate_vocabs": true})");
  const Tokenizer tokenizer = marian.load();
  EXPECT_EQ(tokenizer.encode("the dog"), marian.ids_of(marian.source, "the dog"));
  const Ids ids = tokenizer.encode_target("katze");
  EXPECT_EQ(tokenizer.decode(ids), "katze");
  EXPECT_EQ(tokenizer.size(), static_cast<int>(target.size()));
  EXPECT_EQ(tokenizer.files().size(), 5u);
}

TEST(MarianFolder, NamesAFileThatIsMissingOrWrong) {
  const MarianFolder marian;
  marian.folder.write("vocab.json", R"({"<unk>": 0})");
  expect_error(ErrorKind::model,
               marian.folder.file("vocab.json") + ": expected a piece </s>, found none",
               [&] { marian.load(); });
  marian.folder.write("vocab.json", R"({"<unk>": 0, "</s>": 4194304})");
  EXPECT_THROW(marian.load(), Error);
  marian.folder.write("target.spm", "no model");
  marian.folder.write("vocab.json", marian.vocabulary.dump());
  expect_error(ErrorKind::model, marian.folder.file("target.spm") + ": not a SentencePiece model",
               [&] { marian.load(); });
}

// --- SentencePiece

// A serialised model whose pieces are those of another family: a fixed number for each role.
std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

std::string piece_message(const std::string& piece, float score, int type) {
  std::string bytes = message_field(1, piece);
  bytes += '\x15';  // field 2, four bytes
  bytes.append(reinterpret_cast<const char*>(&score), sizeof(score));
  return message_field(1, bytes + '\x18' + varint(static_cast<std::uint64_t>(type)));
}

std::string number_field(int field, std::uint64_t value) {
  return varint(static_cast<std::uint64_t>(field) << 3) + varint(value);
}

constexpr int normal = 1, unknown_type = 2, control = 3, byte_type = 6;

// <unk> 0, <s> 1, </s> 2, bytes 3 to 258, then pieces.
std::string llama_model(const Lines& pieces) {
  std::string model = piece_message("<unk>", 0, unknown_type) + piece_message("<s>", 0, control) +
                      piece_message("</s>", 0, control);
  for (int byte = 0; byte < 256; ++byte) {
    char name[8];
    std::snprintf(name, sizeof(name), "<0x%02X>", byte);
    model += piece_message(name, 0, byte_type);
  }
  float score = 0;
  for (const std::string& piece : pieces) model += piece_message(piece, score -= 1, normal);
  const std::string trainer = number_field(3, 2) + number_field(35, 1) + number_field(40, 0) +
                              number_field(41, 1) + number_field(42, 2);
  return model + message_field(2, trainer) + message_field(3, message_field(1, "identity"));
}

Lines llama_pieces() {
  return {"\u2581t", "he", "\u2581the", "\u2581d", "og", "\u2581dog", "\u2581",
          "t",       "h",  "e",         "d",       "o",  "g"};
}

TEST(SentencePieceFolder, PutsTheBeginTokenOfLlamaBeforeAText) {
  const TemporaryFolder folder;
  folder.write("tokenizer.model", llama_model(llama_pieces()));
  folder.write("config.json", R"({"model_type": "llama", "eos_token_id": [2, 7]})");
  const Tokenizer tokenizer = Tokenizer::load_folder(folder.path());
  EXPECT_EQ(tokenizer.encode("the dog"), (Ids{261, 264}));
  EXPECT_EQ(encode_lines(Lines{"the dog"}, tokenizer, LineForm::prompt)[0], (Ids{1, 261, 264}));
  EXPECT_EQ(encode_lines(Lines{"the dog"}, tokenizer, LineForm::input)[0], (Ids{1, 261, 264}));
  EXPECT_EQ(tokenizer.tokens().ends, (Ids{2, 7}));
  EXPECT_EQ(tokenizer.tokens().unknown, 0);
  EXPECT_EQ(tokenizer.tokens().pad, SpecialTokens::none);
  EXPECT_EQ(tokenizer.decode(Ids{1, 261, 264, 2}), "the dog");
  EXPECT_EQ(tokenizer.decode(Ids{261, 5000}), "the");
  EXPECT_FALSE(tokenizer.is_own());
}

TEST(SentencePieceFolder, FallsBackToBytesAndStreamsThem) {
  const TemporaryFolder folder;
  folder.write("tokenizer.model", llama_model(llama_pieces()));
  const Tokenizer tokenizer = Tokenizer::load_folder(folder.path());
  const Ids ids = tokenizer.encode("the \u00e9");
  EXPECT_EQ(tokenizer.byte(ids.back()), '\xa9');
  EXPECT_EQ(tokenizer.decode(ids), "the \u00e9");
  EXPECT_EQ(streamed(tokenizer, ids), "the \u00e9");
}

TEST(SentencePieceFolder, FindsAddedTokensInATextAndCountsThem) {
  const TemporaryFolder folder;
  folder.write("tokenizer.model", llama_model(llama_pieces()));
  folder.write("tokenizer_config.json",
               R"({"tokenizer_class": "LlamaTokenizerFast", "add_bos_token": false,
                   "add_eos_token": true, "pad_token": "<pad>", "added_tokens_decoder":
                   {"272": {"content": "<pad>", "special": true},
                    "273": {"content": "<|user|>", "special": false, "rstrip": true}}})");
  const Tokenizer tokenizer = Tokenizer::load_folder(folder.path());
  EXPECT_EQ(tokenizer.size(), 274);
  EXPECT_EQ(tokenizer.tokens().pad, 272);
  EXPECT_EQ(tokenizer.encode("<|user|>  the</s>"), (Ids{273, 261, 2}));
  EXPECT_EQ(encode_lines(Lines{"the"}, tokenizer, LineForm::input)[0], (Ids{261, 2}));
  EXPECT_EQ(tokenizer.decode(Ids{273, 261, 272}), "<|user|>the");
  EXPECT_EQ(tokenizer.piece(273), "<|user|>");
}

TEST(SentencePieceFolder, NumbersTheExtraTokensOfT5DownwardsFromTheTop) {
  const TemporaryFolder folder;
  folder.write("spiece.model", llama_model(llama_pieces()));
  folder.write("config.json", R"({"model_type": "t5", "vocab_size": 400, "pad_token_id": 0,
                                  "eos_token_id": 2, "decoder_start_token_id": 0})");
  const Tokenizer tokenizer = Tokenizer::load_folder(folder.path());
  EXPECT_EQ(tokenizer.size(), 272 + 100);
  EXPECT_EQ(tokenizer.encode("the <extra_id_0> dog <extra_id_99>"), (Ids{261, 371, 264, 272}));
  EXPECT_EQ(encode_lines(Lines{"the"}, tokenizer, LineForm::input)[0], (Ids{261, 2}));
  EXPECT_EQ(encode_pairs(Lines{"the"}, Lines{"dog"}, tokenizer)[0], (Ids{261, 2, 264, 2}));
  EXPECT_EQ(tokenizer.decode(Ids{0, 371, 261, 2}), "the");
  EXPECT_EQ(tokenizer.tokens().decoder_start, 0);
}

TEST(SentencePieceFolder, RefusesFamiliesWithOtherIds) {
  const TemporaryFolder folder;
  folder.write("tokenizer.model", llama_model(llama_pieces()));
  folder.write("config.json", R"({"model_type": "xlm-roberta"})");
  EXPECT_THROW(Tokenizer::load_folder(folder.path()), Error);
}

// --- All of them

TEST(TokenizerFolder, HeedsOwnComesFirst) {
  const BertFolder folder;
  folder.folder.write("tokenizer.model", own_model());
  const Tokenizer tokenizer = folder.load();
  EXPECT_TRUE(tokenizer.is_own());
  EXPECT_EQ(tokenizer.bytes(), own_model());
  EXPECT_EQ(tokenizer.files().size(), 1u);
  EXPECT_EQ(tokenizer.tokens(), SpecialTokens());
  EXPECT_EQ(tokenizer.sequence(), own_sequence());
}

TEST(TokenizerFolder, ADamagedFileOfAModelOfOursIsNoneOfAnotherFamily) {
  const TemporaryFolder folder;
  folder.write("config.json", R"({"model_type": "heed-language", "eos_token_id": 3})");
  folder.write("tokenizer.model", llama_model(llama_pieces()));
  expect_error(ErrorKind::model,
               folder.file("tokenizer.model") +
                   ": expected the ids pad 0, unk 1, bos 2, eos 3, found pad -1, unk 0, bos 1, "
                   "eos 2",
               [&] { Tokenizer::load_folder(folder.path()); });
}

TEST(TokenizerFolder, ReadsATokenizerJsonWithItsTemplateAndTheSettingsBesideIt) {
  const TemporaryFolder folder;
  const Json special{{"id", "[SEP]"}, {"ids", {3}}, {"tokens", {"[SEP]"}}};
  const Json single = Json::array({{{"Sequence", {{"id", "A"}, {"type_id", 0}}}},
                                   {{"SpecialToken", {{"id", "[SEP]"}, {"type_id", 0}}}}});
  const Json file = tokenizer_json(
      word_level({"[UNK]", "the", "bat", "[SEP]"}),
      {{"pre_tokenizer", {{"type", "Whitespace"}}},
       {"added_tokens", {added_token("[SEP]", {{"special", true}})}},
       {"post_processor",
        {{"type", "TemplateProcessing"},
         {"single", single},
         {"pair", Json::array()},
         {"special_tokens", {{"[SEP]", special}}}}},
       {"truncation",
        {{"max_length", 2}, {"strategy", "LongestFirst"}, {"stride", 0}, {"direction", "Right"}}}});
  folder.write("tokenizer.json", file.dump());
  folder.write("special_tokens_map.json", R"({"mask_token": "bat"})");
  const Tokenizer tokenizer = Tokenizer::load_folder(folder.path());
  // What a model reads is cut elsewhere; the library leaves these sections aside too.
  EXPECT_EQ(tokenizer.encode("the the bat"), (Ids{1, 1, 2}));
  EXPECT_EQ(tokenizer.encode("the the bat", EncodeOptions{}).ids, (Ids{1, 3}));
  EXPECT_EQ(encode_lines(Lines{"the"}, tokenizer, LineForm::input)[0], (Ids{1, 3}));
  EXPECT_EQ(tokenizer.mask(), 2);
  EXPECT_EQ(tokenizer.tokens().unknown, 0);
  EXPECT_EQ(tokenizer.tokens().ends, (Ids{3}));
  EXPECT_THROW(encode_pairs(Lines{"the"}, Lines{"bat"}, tokenizer), Error);
}

TEST(TokenizerFolder, WhatIsSaidAboutGenerationComesFirst) {
  const BertFolder folder(Json::object(), {{"eos_token_id", 3}, {"pad_token_id", -1}});
  folder.folder.write("generation_config.json", R"({"eos_token_id": [11, 3], "pad_token_id": 0})");
  EXPECT_EQ(folder.load().tokens().ends, (Ids{11, 3}));
  EXPECT_EQ(folder.load().tokens().pad, 0);
}

TEST(TokenizerFolder, RefusesIdsThatAreNoIds) {
  for (const Json& id : {Json(-2), Json("3"), Json(1 << 22), Json::array({1, 2.5})}) {
    const BertFolder folder(Json::object(), {{"eos_token_id", id}});
    EXPECT_THROW(folder.load(), Error) << id;
  }
}

TEST(TokenizerFolder, NamesAFolderWithoutATokenizer) {
  const TemporaryFolder folder;
  EXPECT_FALSE(Tokenizer::is_in(folder.path()));
  expect_error(ErrorKind::model,
               folder.path() +
                   ": expected a model folder with one of tokenizer.model, source.spm, "
                   "tokenizer.json, spiece.model, merges.txt, vocab.txt, found none",
               [&] { Tokenizer::load_folder(folder.path()); });
}

}  // namespace
}  // namespace heed::text
