// Tokenizer: text to ids and back, by subwords, words or characters that SentencePiece learns from
// text, or by bytes.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/choices.h"

namespace heed::text {

enum class Subwords { bpe, unigram, word, character, byte };

}  // namespace heed::text

namespace heed {
template <>
std::span<const Choice<text::Subwords>> choices();  // bpe, unigram, word, char, byte
}  // namespace heed

namespace heed::text {

struct TokenizerOptions {
  int vocabulary = 10000;  // how many pieces, the four special ones included
  Subwords subwords = Subwords::bpe;
  // The lines are one continuous text: "\n" is a piece of its own, and no space is added before a
  // text, so a piece decodes to the same text everywhere. Not for words.
  bool is_running_text = false;
  bool with_mask = false;  // one of the pieces is Tokenizer::mask_piece. Not for bytes.
  // A text that allows fewer pieces than `vocabulary` gets fewer, and one that needs more gets
  // more. Otherwise such a text is refused.
  bool fit_vocabulary = false;
};

// Immutable. Copies share the model, and any number of threads may use one at the same time.
//
// Text comes back from decode(encode(text)) as it was, spaces included: nothing is normalised.
// Exceptions are what the vocabulary lacks (a character or word that was not in the training
// text, U+0000 and U+2585, and for words those that hold <s>, </s>, <unk> or <pad>), which comes
// back as " ⁇ ", and U+2581, which comes back as a space.
// Bytes have no exceptions.
class Tokenizer {
 public:
  static constexpr int pad = 0;
  static constexpr int unknown = 1;
  static constexpr int begin = 2;
  static constexpr int end = 3;
  // Stands for a masked token; text that holds it encodes to it, except for words.
  static constexpr std::string_view mask_piece = "<mask>";

  // The same lines and options give the same bytes, on any machine and for any number of threads.
  // Blank lines are skipped. Refuses (ErrorKind::data) a text without words and, for bpe and
  // unigram, a vocabulary that is too small for the characters of the text or larger than the text
  // allows. For words and characters the vocabulary is only an upper bound; bytes are 256.
  static Tokenizer train(std::span<const std::string> lines, const TokenizerOptions& options);

  // From a SentencePiece model whose special pieces have the ids above; refuses all others
  // (ErrorKind::model). `name` stands for the bytes in messages.
  static Tokenizer load(const std::filesystem::path& path);
  static Tokenizer from_bytes(std::string_view bytes, const std::string& name = "tokenizer");

  // The serialised model: what load and from_bytes read.
  const std::string& bytes() const;
  int size() const;
  Subwords subwords() const;

  // Without begin and end.
  std::vector<int> encode(std::string_view text) const;
  // pad, begin and end vanish; an id outside the vocabulary is refused.
  std::string decode(std::span<const int> ids) const;
  // One piece as SentencePiece writes it: "▁" stands for a space.
  std::string piece(int id) const;
  // The id of mask_piece; nothing when there is no such piece.
  std::optional<int> mask() const;
  // Does encode add a space before every text, which decode removes?
  bool has_space_before() const;
  // The byte of a piece that stands for a single byte.
  std::optional<char> byte(int id) const;

 private:
  struct Model;
  explicit Tokenizer(std::shared_ptr<const Model> model) : model_(std::move(model)) {}

  std::shared_ptr<const Model> model_;
};

}  // namespace heed::text
