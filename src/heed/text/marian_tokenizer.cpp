#include "heed/text/marian_tokenizer.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"

namespace heed::text {
namespace {

constexpr std::string_view unknown_piece = "<unk>", end_piece = "</s>", pad_piece = "<pad>";

Vocabulary read_vocabulary(const std::string& bytes, const std::string& path) {
  const nlohmann::json pieces = io::JsonFields::parse(bytes, path).json();
  const auto fields = io::JsonFields::of({{"pieces", pieces}}, path);
  Vocabulary vocabulary = Vocabulary::read(fields, "pieces");
  for (const std::string_view piece : {unknown_piece, end_piece}) {
    check_as(ErrorKind::model, vocabulary.find(piece).has_value(), path, ": expected a piece ",
             piece, ", found none");
  }
  return vocabulary;
}

// ">>fr<<" of ">>fr<< Good morning."
std::string_view language_code(std::string_view text) {
  constexpr std::string_view before = ">>", after = "<<";
  if (!text.starts_with(before)) return {};
  const std::size_t end = text.substr(0, text.find('\n')).rfind(after);
  return end == text.npos || end <= before.size() ? std::string_view()
                                                  : text.substr(0, end + after.size());
}

std::vector<int> ids_of(const std::vector<std::string>& pieces, const Vocabulary& ids) {
  std::vector<int> found;
  for (const std::string& piece : pieces) {
    found.push_back(ids.find(piece).value_or(*ids.find(unknown_piece)));
  }
  return found;
}

std::string without_spaces_around(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

}  // namespace

MarianTokenizer::MarianTokenizer(const MarianFiles& files, const std::string& folder)
    : source_(files.source_model, folder + "/source.spm"),
      target_(files.target_model, folder + "/target.spm"),
      source_ids_(read_vocabulary(files.vocabulary, folder + "/vocab.json")),
      target_ids_(files.target_vocabulary
                      ? read_vocabulary(*files.target_vocabulary, folder + "/target_vocab.json")
                      : source_ids_) {}

std::vector<int> MarianTokenizer::encode(std::string_view text) const {
  const std::string_view code = language_code(text);
  std::vector<int> ids;
  if (!code.empty()) ids = ids_of({std::string(code)}, source_ids_);
  const std::vector<int> rest =
      ids_of(source_.encode_pieces(text.substr(code.size())), source_ids_);
  ids.insert(ids.end(), rest.begin(), rest.end());
  return ids;
}

std::vector<int> MarianTokenizer::encode_target(std::string_view text) const {
  return ids_of(target_.encode_pieces(text), target_ids_);
}

std::string MarianTokenizer::decode(std::span<const int> ids) const {
  std::string text;
  for (const int id : ids) text += surface(id);
  return without_spaces_around(text);
}

std::string MarianTokenizer::token(int id) const {
  return std::string(target_ids_.piece(id).value_or(""));
}

bool MarianTokenizer::is_special(int id) const {
  const std::string token = this->token(id);
  return token == unknown_piece || token == end_piece || token == pad_piece;
}

}  // namespace heed::text
