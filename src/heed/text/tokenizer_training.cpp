#include "heed/text/tokenizer_training.h"

#include <sentencepiece_trainer.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "heed/base/cancellation.h"
#include "heed/base/child_process.h"
#include "heed/base/error.h"
#include "heed/base/utf8.h"

namespace heed::text {
namespace {

constexpr std::string_view unknown_mark = "\xe2\x96\x85";  // U+2585
constexpr int num_special_pieces = 4;

// SentencePiece ends the whole process when it learns bpe from a word of 65,536 characters or more.
// Longer words than this are cut; that changes what is learned, not what can be encoded.
constexpr std::size_t max_word_bytes = 4096;

// Characters that SentencePiece keeps for itself: it would pass over the whole line.
bool is_reserved(std::string_view character) {
  return character == "\t" || character == unknown_mark || character == std::string_view("\0", 1);
}

// SentencePiece cuts the names of its special pieces out of the text that it learns from, and with
// them characters that may occur nowhere else. A name with another one inside is cut there only,
// between its first character and the others: "<<s>unk>" is learned as "<" and "unk>".
std::string keep_special_names(std::string line) {
  constexpr std::string_view cut = "<s>";
  constexpr std::string_view names[] = {"<pad>", "<unk>", "<s>", "</s>"};
  for (std::size_t at = line.find('<'); at != line.npos; at = line.find('<', at)) {
    const std::string_view rest = std::string_view(line).substr(at);
    const bool is_name = std::ranges::any_of(
        names, [rest](std::string_view name) { return rest.starts_with(name); });
    ++at;
    if (!is_name) continue;
    line.insert(at, cut);
    at += cut.size();
  }
  return line;
}

// Cuts a line into the pieces that SentencePiece can learn from: usually one, the line itself.
std::vector<std::string> learnable_pieces(std::string_view line) {
  std::vector<std::string> pieces;
  std::string piece;
  std::size_t word_bytes = 0;
  bool is_blank = true;
  const auto finish_piece = [&] {
    if (!is_blank) pieces.push_back(piece);
    piece.clear();
    word_bytes = 0;
    is_blank = true;
  };
  while (!line.empty()) {
    const std::string_view character = line.substr(0, utf8_length(line.front()));
    line.remove_prefix(character.size());
    const bool is_space = character == " ";
    if (is_reserved(character) || (!is_space && word_bytes >= max_word_bytes)) finish_piece();
    if (is_reserved(character)) continue;
    piece += character;
    word_bytes = is_space ? 0 : word_bytes + character.size();
    is_blank = is_blank && is_space;
  }
  finish_piece();
  return pieces;
}

class TrainingText : public sentencepiece::SentenceIterator {
 public:
  explicit TrainingText(std::span<const std::string> lines) : lines_(lines) { find_piece(); }

  bool done() const override { return pieces_.empty(); }
  const std::string& value() const override { return pieces_[piece_]; }
  sentencepiece::util::Status status() const override { return {}; }
  void Next() override {
    ++piece_;
    find_piece();
  }

 private:
  void find_piece() {
    while (piece_ >= pieces_.size()) {
      piece_ = 0;
      pieces_.clear();
      if (line_ == lines_.size()) return;
      pieces_ = learnable_pieces(keep_special_names(lines_[line_++]));
    }
  }

  std::span<const std::string> lines_;
  std::size_t line_ = 0;  // the next one
  std::vector<std::string> pieces_;
  std::size_t piece_ = 0;
};

struct Alphabet {
  std::size_t num_characters = 0;  // the space included, because a space comes before every text
  bool has_tab = false;
};

Alphabet find_alphabet(std::span<const std::string> lines) {
  std::unordered_set<std::string_view> characters;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    check_cancelled(i);
    const std::string& line = lines[i];
    for (std::size_t at = 0; at < line.size();) {
      const std::string_view character = std::string_view(line).substr(at, utf8_length(line[at]));
      at += character.size();
      if (character != " ") characters.insert(character);
    }
  }
  Alphabet alphabet{.has_tab = characters.contains("\t")};
  std::erase_if(characters, is_reserved);
  characters.erase("\xe2\x96\x81");  // U+2581 is SentencePiece's space
  alphabet.num_characters = characters.empty() ? 0 : characters.size() + 1;
  return alphabet;
}

// Symbols that SentencePiece cannot learn from lines: those that it reserves or that no line holds.
std::vector<std::string> symbols_of_their_own(const TokenizerOptions& options,
                                              const Alphabet& alphabet) {
  std::vector<std::string> symbols;
  if (alphabet.has_tab && options.subwords != Subwords::word) symbols.push_back("\t");
  if (options.is_running_text) symbols.push_back("\n");
  if (options.with_mask) symbols.emplace_back(Tokenizer::mask_piece);
  return symbols;
}

std::unordered_map<std::string, std::string> trainer_arguments(const TokenizerOptions& options,
                                                               const Alphabet& alphabet) {
  std::unordered_map<std::string, std::string> arguments = {
      {"model_type", std::string(name_of(options.subwords))},
      {"vocab_size", std::to_string(options.vocabulary)},
      {"pad_id", std::to_string(own_tokens::pad)},
      {"unk_id", std::to_string(own_tokens::unknown)},
      {"bos_id", std::to_string(own_tokens::begin)},
      {"eos_id", std::to_string(own_tokens::end)},
      {"byte_fallback", "false"},
      {"character_coverage", "1.0"},
      {"normalization_rule_name", "identity"},
      {"remove_extra_whitespaces", "false"},
      {"max_sentence_length", "1000000000"},
      // The caller compares the size that was reached with the one that was asked for.
      {"hard_vocab_limit", "false"},
      // The unigram sums depend on the number of threads, so it is the same everywhere.
      {"num_threads", "4"},
      {"minloglevel", "2"},
  };
  if (options.is_running_text) arguments["add_dummy_prefix"] = "false";
  std::string symbols;
  for (const std::string& symbol : symbols_of_their_own(options, alphabet)) {
    symbols.append(symbols.empty() ? "" : ",").append(symbol);
  }
  if (!symbols.empty()) arguments["user_defined_symbols"] = symbols;
  return arguments;
}

// One piece for each character.
int smallest_vocabulary(const TokenizerOptions& options, const Alphabet& alphabet) {
  return num_special_pieces +
         static_cast<int>(alphabet.num_characters + symbols_of_their_own(options, alphabet).size());
}

bool learns_subwords(const TokenizerOptions& options) {
  return options.subwords != Subwords::word && options.subwords != Subwords::character;
}

void check_vocabulary(const TokenizerOptions& options, const Alphabet& alphabet) {
  check_as(ErrorKind::usage, options.vocabulary > num_special_pieces,
           "vocabulary: expected more than the ", num_special_pieces, " special pieces, got ",
           options.vocabulary);
  check_as(ErrorKind::data, alphabet.num_characters > 0,
           "vocabulary: expected text to learn from, found none");
  check_as(ErrorKind::usage, !options.is_running_text || options.subwords != Subwords::word,
           "subwords: expected bpe, unigram, char or byte for a running text, got word");
  if (!learns_subwords(options)) return;
  const int smallest = smallest_vocabulary(options, alphabet);
  check_as(ErrorKind::data, options.vocabulary >= smallest, "vocabulary: ", options.vocabulary,
           " is too small, the text has ", alphabet.num_characters,
           " different characters and needs at least ", smallest);
}

TokenizerOptions fitted(TokenizerOptions options, const Alphabet& alphabet) {
  if (options.fit_vocabulary && learns_subwords(options)) {
    options.vocabulary = std::max(options.vocabulary, smallest_vocabulary(options, alphabet));
  }
  return options;
}

}  // namespace

std::string train_sentencepiece(std::span<const std::string> lines,
                                const TokenizerOptions& wanted) {
  const Alphabet alphabet = find_alphabet(lines);
  const TokenizerOptions options = fitted(wanted, alphabet);
  check_vocabulary(options, alphabet);

  // In a process of its own: SentencePiece cannot be cancelled, and ends its process when it meets
  // what it did not expect.
  const std::string model = run_in_child([&] {
    TrainingText text(lines);
    std::string bytes;
    const auto status = sentencepiece::SentencePieceTrainer::Train(
        trainer_arguments(options, alphabet), &text, &bytes);
    check_as(ErrorKind::data, status.ok(), "vocabulary: cannot learn ", options.vocabulary,
             " pieces from this text: ", status.message());
    return bytes;
  });

  const bool is_exact = options.subwords == Subwords::bpe || options.subwords == Subwords::unigram;
  if (is_exact && !options.fit_vocabulary) {
    const int size = Tokenizer::from_bytes(model).size();
    check_as(ErrorKind::data, size >= options.vocabulary, "vocabulary: ", options.vocabulary,
             " is more than the text allows, which is ", size);
  }
  return model;
}

}  // namespace heed::text
