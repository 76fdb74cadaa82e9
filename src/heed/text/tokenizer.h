// Tokenizer: text to ids and back, with the tokenizer files of any model: Heed's own, which
// SentencePiece learns from text, and those of Hugging Face's and Marian's folders.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/choices.h"
#include "heed/text/encoding.h"
#include "heed/text/sequence_template.h"
#include "heed/text/special_tokens.h"

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

class TokenizerModel;

// The files of a tokenizer, by their names in a model folder.
using TokenizerFiles = std::map<std::string, std::string>;

// Immutable. Copies share the model, and any number of threads may use one at the same time.
//
// Of Heed's own tokenizers text comes back from decode(encode(text)) as it was, spaces included:
// nothing is normalised. Exceptions are what the vocabulary lacks (a character or word that was not
// in the training text, U+0000 and U+2585, and for words those that hold <s>, </s>, <unk> or
// <pad>), which comes back as " ⁇ ", and U+2581, which comes back as a space. Bytes have no
// exceptions.
class Tokenizer {
 public:
  static constexpr int pad = 0;  // these four are those of Heed's own tokenizers
  static constexpr int unknown = 1;
  static constexpr int begin = 2;
  static constexpr int end = 3;
  // In Heed's own tokenizers it stands for a masked token; text that holds it encodes to it, except
  // for words. A user may write it for the mask of any model.
  static constexpr std::string_view mask_piece = "<mask>";

  // The same lines and options give the same bytes, on any machine and for any number of threads.
  // Blank lines are skipped. Refuses (ErrorKind::data) a text without words and, for bpe and
  // unigram, a vocabulary that is too small for the characters of the text or larger than the text
  // allows. For words and characters the vocabulary is only an upper bound; bytes are 256.
  static Tokenizer train(std::span<const std::string> lines, const TokenizerOptions& options);

  // Heed's own: a SentencePiece model whose special pieces have the ids of SpecialTokens{}; refuses
  // all others (ErrorKind::model). `name` stands for the bytes in messages.
  static Tokenizer load(const std::filesystem::path& path);
  static Tokenizer from_bytes(std::string_view bytes, const std::string& name = "tokenizer");

  // That of a model folder of any family: Heed's own tokenizer.model; Marian's source.spm,
  // target.spm and vocab.json; tokenizer.json; tokenizer.model or spiece.model; vocab.json and
  // merges.txt; vocab.txt. The first of these that is there counts. What the special tokens are
  // comes from config.json, generation_config.json, tokenizer_config.json and
  // special_tokens_map.json. Refuses (ErrorKind::model) a folder with none of these, and what
  // cannot be done as its own library does it.
  static Tokenizer load_folder(const std::string& folder);
  static bool is_in(const std::string& folder);  // is there one of these files?
  // What any tokenizer may have in a folder.
  static std::span<const char* const> file_names();
  // That of a file tokenizer.json or tokenizer.model alone, or of a folder.
  static Tokenizer load_any(const std::string& path);

  // What was loaded, to be written as it was.
  const TokenizerFiles& files() const;
  // Did Tokenizer::train make it?
  bool is_own() const;
  // The same of a serialised SentencePiece model: does it have Heed's ids of special tokens?
  static bool is_own(std::string_view bytes);
  // The serialised model of one of Heed's own: what load and from_bytes read.
  const std::string& bytes() const;

  const SpecialTokens& tokens() const;
  // The token that is appended to a text that ends. Refuses (ErrorKind::model) a tokenizer without
  // one.
  int end_token() const;
  const SequenceTemplate& sequence() const;
  // Does a token stand for no text, as pad, begin and end do? The mask and, unless it is one of
  // these, the unknown token are not special.
  bool is_special(int id) const;

  int size() const;                    // the largest id + 1; a model may have more rows
  Subwords subwords() const;           // WordPiece counts as bpe
  std::string_view algorithm() const;  // the name of `subwords`, or wordpiece

  // Without special tokens.
  std::vector<int> encode(std::string_view text) const;
  // The same for what a translator writes, which may have pieces of its own.
  std::vector<int> encode_target(std::string_view text) const;
  // With the tokens as the files write them and, of a tokenizer.json, offsets.
  Encoding encode(std::string_view text, const EncodeOptions& options) const;
  // Special tokens vanish. Of a foreign tokenizer so do the unknown token and ids that have no
  // token; one of Heed's own refuses these.
  std::string decode(std::span<const int> ids) const;
  std::string decode(std::span<const int> ids, const DecodeOptions& options) const;
  // One piece as SentencePiece writes it, whatever the files do: "▁" stands for a space.
  std::string piece(int id) const;
  // The bytes that a token adds to a text, with the space before it; none of a special one.
  std::string surface(int id) const;
  // The id of the token that stands for a masked one; nothing when there is no such token.
  std::optional<int> mask() const;
  // How a text must spell it.
  std::string mask_text() const;
  // Does encode add a space before every text, which decode removes?
  bool has_space_before() const;
  // The byte of a piece that stands for a single byte.
  std::optional<char> byte(int id) const;

 private:
  friend class TokenizerFolder;
  struct Parts;
  explicit Tokenizer(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}

  std::shared_ptr<const Parts> parts_;
};

}  // namespace heed::text
