#include "heed/text/sentence_piece_tokenizer.h"

#include <algorithm>
#include <utility>

namespace heed::text {
namespace {

constexpr std::string_view space_mark = "\xe2\x96\x81";  // U+2581
constexpr std::string_view unknown_text = " \xe2\x81\x87 ";

}  // namespace

std::string with_spaces(std::string_view piece) {
  std::string text;
  while (!piece.empty()) {
    const bool is_space = piece.starts_with(space_mark);
    text += is_space ? ' ' : piece.front();
    piece.remove_prefix(is_space ? space_mark.size() : 1);
  }
  return text;
}

void SentencePieceTokenizer::add_tokens(const std::vector<AddedToken>& tokens,
                                        const std::string& place) {
  std::vector<AddedToken> with_ids = tokens;
  for (AddedToken& token : with_ids) {
    token.id = pieces_.find(token.content).value_or(token.id);
  }
  added_ = AddedTokens(std::move(with_ids), place);
}

int SentencePieceTokenizer::size() const { return std::max(pieces_.size(), added_.num_ids()); }

std::vector<int> SentencePieceTokenizer::encode(std::string_view text) const {
  if (added_.num_ids() == 0) return pieces_.encode(text);
  std::vector<int> ids;
  const TextPieces parts = added_.split(text, {});
  for (const TextPiece& part : parts.pieces()) {
    if (part.added_token) {
      ids.push_back(*part.added_token);
      continue;
    }
    const std::vector<int> of_part = pieces_.encode(parts.bytes(part));
    ids.insert(ids.end(), of_part.begin(), of_part.end());
  }
  return ids;
}

// Runs of the model's own ids, and between them what was added.
std::string SentencePieceTokenizer::decode(std::span<const int> ids) const {
  std::string text;
  for (std::size_t begin = 0, end = 0; begin < ids.size(); begin = end) {
    end = begin + 1;
    const AddedToken* added = added_.find(ids[begin]);
    if (added != nullptr) {
      text += added->content;
      continue;
    }
    if (!has_piece(ids[begin])) continue;
    while (end < ids.size() && has_piece(ids[end]) && added_.find(ids[end]) == nullptr) ++end;
    text += pieces_.decode(ids.subspan(begin, end - begin));
  }
  return text;
}

std::optional<int> SentencePieceTokenizer::find(std::string_view token) const {
  const std::optional<int> added = added_.find(token);
  return added ? added : pieces_.find(token);
}

std::string SentencePieceTokenizer::token(int id) const {
  if (const AddedToken* added = added_.find(id)) return added->content;
  return has_piece(id) ? pieces_.piece(id) : "";
}

std::string SentencePieceTokenizer::surface(int id) const {
  if (const AddedToken* added = added_.find(id)) return added->content;
  if (!has_piece(id) || pieces_.is_control(id)) return "";
  if (id == pieces_.unknown()) return std::string(unknown_text);
  if (const std::optional<char> byte = pieces_.byte(id)) return std::string(1, *byte);
  return with_spaces(pieces_.piece(id));
}

std::optional<char> SentencePieceTokenizer::byte(int id) const {
  return has_piece(id) ? pieces_.byte(id) : std::nullopt;
}

bool SentencePieceTokenizer::is_special(int id) const {
  if (const AddedToken* added = added_.find(id)) return added->is_special;
  return has_piece(id) && pieces_.is_control(id);
}

}  // namespace heed::text
