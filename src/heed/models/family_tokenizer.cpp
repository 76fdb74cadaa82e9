#include "heed/models/family_tokenizer.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <tuple>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/printable.h"
#include "heed/base/random.h"
#include "heed/base/utf8.h"
#include "heed/models/gguf_vocabulary.h"
#include "heed/text/json_tokenizer.h"

namespace heed::models {
namespace {

using nlohmann::ordered_json;
using text::Subwords;
using text::Tokenizer;

constexpr std::string_view space_mark = "\xe2\x96\x81";  // U+2581
constexpr std::int32_t normal_type = 1, control_type = 3;
constexpr std::size_t max_piece_bytes = 1 << 10;  // of tokenizer.json

std::string dump(const ordered_json& json) {
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

struct Merge {
  float score;  // of what the two make
  std::size_t id, left_size;
  std::string left, right;
};

// SentencePiece merges the two neighbours that make the piece with the highest score, and the first
// of several such pairs. A list of merges has an order among pairs of the same piece, too: the one
// with the longer left part comes first, as it does where a run of one character is merged from its
// beginning.
std::vector<Merge> merges_of(const GgufVocabulary& vocabulary) {
  std::map<std::string_view, std::size_t> ids;
  for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    if (vocabulary.types[id] == normal_type) ids[vocabulary.tokens[id]] = id;
  }
  std::vector<Merge> merges;
  for (const auto& [piece, id] : ids) {
    for (std::size_t cut = 1; cut < piece.size(); ++cut) {
      const std::string_view left = piece.substr(0, cut), right = piece.substr(cut);
      if (!ids.contains(left) || !ids.contains(right)) continue;
      merges.push_back({vocabulary.scores[id], id, cut, std::string(left), std::string(right)});
    }
  }
  std::ranges::sort(merges, [](const Merge& a, const Merge& b) {
    return std::tuple(-a.score, a.id, b.left_size) < std::tuple(-b.score, b.id, a.left_size);
  });
  return merges;
}

// A text as SentencePiece sees it: its spaces are marks, and one comes before it.
ordered_json normalizer(bool has_space_before) {
  ordered_json parts = ordered_json::array();
  if (has_space_before) parts.push_back({{"type", "Prepend"}, {"prepend", space_mark}});
  parts.push_back({{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", space_mark}});
  return {{"type", "Sequence"}, {"normalizers", parts}};
}

ordered_json decoder(bool has_space_before) {
  ordered_json parts = ordered_json::array();
  parts.push_back({{"type", "Replace"}, {"pattern", {{"String", space_mark}}}, {"content", " "}});
  parts.push_back({{"type", "Fuse"}});
  if (has_space_before) {
    parts.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  }
  return {{"type", "Sequence"}, {"decoders", parts}};
}

ordered_json byte_level() {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", false},
          {"trim_offsets", true},
          {"use_regex", false}};
}

ordered_json bpe_model(const GgufVocabulary& vocabulary, bool has_merges, bool has_unknown) {
  ordered_json ids = ordered_json::object(), merges = ordered_json::array();
  for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id) ids[vocabulary.tokens[id]] = id;
  if (has_merges) {
    for (const Merge& merge : merges_of(vocabulary)) {
      merges.push_back(ordered_json::array({merge.left, merge.right}));
    }
  }
  return {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", has_unknown ? ordered_json("<unk>") : ordered_json()},
          {"continuing_subword_prefix", nullptr},
          {"end_of_word_suffix", nullptr},
          {"fuse_unk", true},
          {"byte_fallback", false},
          {"ignore_merges", false},
          {"vocab", ids},
          {"merges", merges}};
}

ordered_json unigram_model(const GgufVocabulary& vocabulary) {
  ordered_json pieces = ordered_json::array();
  for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    pieces.push_back(
        ordered_json::array({vocabulary.tokens[id], static_cast<double>(vocabulary.scores[id])}));
  }
  return {{"type", "Unigram"},
          {"unk_id", text::own_tokens::unknown},
          {"vocab", pieces},
          {"byte_fallback", false}};
}

// Those that mean something to the model: they are found in a text, too.
ordered_json added_tokens(const GgufVocabulary& vocabulary) {
  ordered_json tokens = ordered_json::array();
  for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    if (vocabulary.types[id] != control_type) continue;
    tokens.push_back({{"id", id},
                      {"content", vocabulary.tokens[id]},
                      {"single_word", false},
                      {"lstrip", false},
                      {"rstrip", false},
                      {"normalized", false},
                      {"special", true}});
  }
  return tokens;
}

std::string tokenizer_json(const Tokenizer& tokenizer, const std::string& name) {
  check_as(ErrorKind::model, tokenizer.subwords() != Subwords::word, name,
           ": subwords: tokenizer.json has no form for Heed's words; it has one for bpe, unigram, "
           "char and byte");
  const GgufVocabulary vocabulary = gguf_vocabulary(tokenizer.bytes(), name);
  for (const std::string& piece : vocabulary.tokens) {
    check_as(ErrorKind::model, piece.size() <= max_piece_bytes, name,
             ": expected pieces of at most ", max_piece_bytes, " bytes, found \"", excerpt(piece),
             '"');
  }
  const bool is_bytes = tokenizer.subwords() == Subwords::byte;
  const bool has_space_before = !is_bytes && tokenizer.has_space_before();
  ordered_json json{{"version", "1.0"},
                    {"truncation", nullptr},
                    {"padding", nullptr},
                    {"added_tokens", added_tokens(vocabulary)},
                    {"normalizer", is_bytes ? ordered_json() : normalizer(has_space_before)},
                    {"pre_tokenizer", is_bytes ? byte_level() : ordered_json()},
                    {"post_processor", nullptr},
                    {"decoder", is_bytes ? byte_level() : decoder(has_space_before)}};
  json["model"] = tokenizer.subwords() == Subwords::unigram
                      ? unigram_model(vocabulary)
                      : bpe_model(vocabulary, tokenizer.subwords() == Subwords::bpe, !is_bytes);
  return dump(json);
}

// Texts of pieces in any order, the same in every run.
std::vector<std::string> sample_texts(const Tokenizer& tokenizer) {
  constexpr int num_texts = 500, pieces_each = 12;
  Rng rng(1);
  std::vector<std::string> texts{" ", "  two  spaces ",
                                 "\xf0\x9f\xa6\x87 \xe8\x9d\x99\xe8\x9d\xa0"};
  for (int i = 0; i < num_texts; ++i) {
    std::string one;
    for (int k = 0; k < pieces_each; ++k) {
      one += tokenizer.surface(
          static_cast<int>(rng.below(static_cast<std::uint64_t>(tokenizer.size()))));
    }
    if (is_valid_utf8(one)) texts.push_back(std::move(one));
  }
  return texts;
}

// Unigrams may have several best ways to segment a text: the same pieces in another order, as
// [a][aaa] and [aaa][a]. Which of them is found depends on how sums are rounded.
bool are_equally_good(const std::vector<int>& a, const std::vector<int>& b) {
  return a.size() == b.size() && std::ranges::is_permutation(a, b);
}

void check_same_ids(const Tokenizer& tokenizer, const std::string& json, const std::string& name) {
  const bool is_unigram = tokenizer.subwords() == Subwords::unigram;
  const auto is_same = [&](const std::vector<int>& a, const std::vector<int>& b) {
    return is_unigram ? are_equally_good(a, b) : a == b;
  };
  const auto written = text::JsonTokenizer::from_bytes(json, name + ": its tokenizer.json");
  for (const std::string& text : sample_texts(tokenizer)) {
    const std::vector<int> ids =
        written.encode(text, {.with_special = false, .fits_length = false}).ids;
    check_as(ErrorKind::model, is_same(ids, tokenizer.encode(text)), name,
             ": expected pieces that tokenizer.json can hold, found another segmentation of \"",
             excerpt(text), '"');
  }
}

std::string vocabulary_json(const Tokenizer& tokenizer) {
  ordered_json ids = ordered_json::object();
  for (int id = 0; id < tokenizer.size(); ++id) ids[tokenizer.piece(id)] = id;
  return dump(ids);
}

ordered_json tokenizer_config(const TransformerConfig& form, bool is_marian) {
  ordered_json json{{"tokenizer_class", is_marian ? "MarianTokenizer" : "PreTrainedTokenizerFast"}};
  if (is_marian) json["separate_vocabs"] = false;
  json["model_max_length"] = form.max_positions;
  json["clean_up_tokenization_spaces"] = false;
  json["pad_token"] = "<pad>";
  json["unk_token"] = "<unk>";
  json["eos_token"] = "</s>";
  return json;
}

}  // namespace

text::TokenizerFiles family_tokenizer_files(const Tokenizer& tokenizer,
                                            const TransformerConfig& form,
                                            const std::string& name) {
  const bool is_marian = form.family == "marian";
  text::TokenizerFiles files{{"tokenizer_config.json", dump(tokenizer_config(form, is_marian))}};
  if (!is_marian) {
    files["tokenizer.json"] = tokenizer_json(tokenizer, name);
    check_same_ids(tokenizer, files["tokenizer.json"], name);
    return files;
  }
  check_as(ErrorKind::model, tokenizer.subwords() != Subwords::byte, name,
           ": subwords: Marian has no form for bytes; it has one for bpe, unigram, char and word");
  files["source.spm"] = files["target.spm"] = tokenizer.bytes();
  files["vocab.json"] = vocabulary_json(tokenizer);
  return files;
}

}  // namespace heed::models
