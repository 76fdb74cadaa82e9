#include "heed/text/bpe_dropout.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <queue>
#include <unordered_map>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/base/utf8.h"
#include "heed/text/message_reader.h"
#include "heed/text/pair_table.h"

namespace heed::text {
namespace {

using own_tokens::unknown;
constexpr std::string_view visible_space = "\xe2\x96\x81";  // U+2581

// Numbers of fields, from SentencePiece's sentencepiece_model.proto.
namespace model_field {
constexpr int pieces = 1, normalizer = 3;
}
namespace piece_field {
constexpr int name = 1, score = 2, type = 3;
}
namespace normalizer_field {
constexpr int character_rules = 2, space_before_text = 3, remove_spaces = 4, visible_spaces = 5;
}

enum class PieceType : std::uint64_t { normal = 1, user_defined = 4, byte = 6 };

struct Piece {
  std::string_view name;
  float score = 0;
  PieceType type = PieceType::normal;
};

Piece read_piece(std::string_view message) {
  Piece piece;
  for (MessageReader reader(message); reader.next();) {
    if (reader.field == piece_field::name) piece.name = reader.content;
    if (reader.field == piece_field::score && reader.content.size() == sizeof(float)) {
      std::memcpy(&piece.score, reader.content.data(), sizeof(float));
    }
    if (reader.field == piece_field::type) piece.type = static_cast<PieceType>(reader.number);
  }
  return piece;
}

std::vector<Piece> read_pieces(std::string_view model) {
  std::vector<Piece> pieces;
  MessageReader reader(model);
  while (reader.find(model_field::pieces)) pieces.push_back(read_piece(reader.content));
  return pieces;
}

// What happens to a text before it is segmented.
struct Normalizer {
  bool has_character_rules = false;
  bool adds_space_before_text = true;
  bool removes_spaces = true;
  bool makes_spaces_visible = true;
};

void read_normalizer_part(std::string_view part, Normalizer& normalizer) {
  for (MessageReader reader(part); reader.next();) {
    switch (reader.field) {
      case normalizer_field::character_rules:
        normalizer.has_character_rules = !reader.content.empty();
        break;
      case normalizer_field::space_before_text:
        normalizer.adds_space_before_text = reader.number != 0;
        break;
      case normalizer_field::remove_spaces:
        normalizer.removes_spaces = reader.number != 0;
        break;
      case normalizer_field::visible_spaces:
        normalizer.makes_spaces_visible = reader.number != 0;
        break;
    }
  }
}

// A message may come in several parts, which are merged: the last value of a field counts.
Normalizer read_normalizer(std::string_view model) {
  Normalizer normalizer;
  for (MessageReader outer(model); outer.find(model_field::normalizer);) {
    read_normalizer_part(outer.content, normalizer);
  }
  return normalizer;
}

struct PieceInText {
  std::size_t size;  // in bytes
  int id;
};

// One piece of the text so far. Those that are still there are a list.
struct Symbol {
  int id;
  int previous;  // -1: none
  int next;
};

constexpr int merged_away = -1;

// A merge of two symbols that awaits its turn.
struct Candidate {
  std::uint64_t turn;  // by rank, then from left to right
  int left, right;
  int right_id;  // when this was proposed; the left one could not grow without the right one
  int id;
};

const Tokenizer& own(const Tokenizer& tokenizer) {
  check_as(ErrorKind::usage, tokenizer.is_own(),
           "bpe dropout: expected a tokenizer that Heed has trained, found one of another family");
  return tokenizer;
}

struct ComesLater {
  bool operator()(const Candidate& a, const Candidate& b) const { return a.turn > b.turn; }
};

}  // namespace

struct BpeDropout::Rules {
  explicit Rules(const Tokenizer& tokenizer);

  void add_merges(const std::vector<Piece>& pieces);
  int id_of(std::string_view piece) const;
  PieceInText first_piece(std::string_view text) const;
  std::vector<Symbol> first_symbols(std::string_view text) const;  // of a text that is not empty

  Tokenizer tokenizer;  // its bytes hold the names
  Normalizer normalizer;
  std::unordered_map<std::string_view, int> ids;
  std::array<int, 128> ascii_ids{};  // of characters; that of the space is its visible stand-in's
  std::vector<std::pair<std::string_view, int>> fixed;  // found before all others, never merged
  MergeTable merges;
};

BpeDropout::Rules::Rules(const Tokenizer& its_tokenizer)
    : tokenizer(own(its_tokenizer)), normalizer(read_normalizer(tokenizer.bytes())) {
  check_as(ErrorKind::usage, tokenizer.subwords() == Subwords::bpe,
           "bpe dropout: expected a tokenizer of bpe pieces, got ", name_of(tokenizer.subwords()));
  check_as(ErrorKind::usage,
           !normalizer.has_character_rules && !normalizer.removes_spaces &&
               normalizer.makes_spaces_visible,
           "bpe dropout: expected a tokenizer that leaves text as it is, got one that changes it");
  const std::vector<Piece> pieces = read_pieces(tokenizer.bytes());
  for (int id = 0; id < static_cast<int>(pieces.size()); ++id) {
    const Piece& piece = pieces[id];
    check_as(ErrorKind::usage, piece.type != PieceType::byte,
             "bpe dropout: expected a tokenizer without pieces for bytes, got ", piece.name);
    // The others are special: no text becomes one of them.
    if (piece.type == PieceType::normal) ids.emplace(piece.name, id);
    if (piece.type == PieceType::user_defined) fixed.emplace_back(piece.name, id);
  }
  for (int code = 0; code < 128; ++code) {
    const char byte = static_cast<char>(code);
    ascii_ids[code] = id_of(byte == ' ' ? visible_space : std::string_view(&byte, 1));
  }
  add_merges(pieces);
}

int BpeDropout::Rules::id_of(std::string_view piece) const {
  const auto entry = ids.find(piece);
  return entry == ids.end() ? unknown : entry->second;
}

// Every way to make a piece of two others. Characters that are no pieces merge with nothing.
void BpeDropout::Rules::add_merges(const std::vector<Piece>& pieces) {
  std::vector<int> order;  // the highest score first
  for (const auto& [name, id] : ids) order.push_back(id);
  std::ranges::sort(order, std::ranges::greater(), [&](int id) { return pieces[id].score; });

  std::uint32_t rank = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Piece& piece = pieces[order[i]];
    // Equal scores have equal ranks, so that the leftmost comes first.
    if (i > 0 && piece.score != pieces[order[i - 1]].score) ++rank;
    for (std::size_t cut = 0; (cut += utf8_length(piece.name[cut])) < piece.name.size();) {
      const int left = id_of(piece.name.substr(0, cut));
      const int right = id_of(piece.name.substr(cut));
      if (left == unknown || right == unknown) continue;
      merges.add(left, right, {rank, order[i]});
    }
  }
}

PieceInText BpeDropout::Rules::first_piece(std::string_view text) const {
  PieceInText longest{0, unknown};
  for (const auto& [name, id] : fixed) {
    if (name.size() > longest.size && text.starts_with(name)) longest = {name.size(), id};
  }
  if (longest.size > 0) return longest;
  const std::size_t size = utf8_length(text.front());
  return {size, size == 1 ? ascii_ids[text.front() & 0x7f] : id_of(text.substr(0, size))};
}

std::vector<Symbol> BpeDropout::Rules::first_symbols(std::string_view text) const {
  std::vector<Symbol> symbols;
  symbols.reserve(text.size() + 1);
  const auto add = [&](int id) {
    const int index = static_cast<int>(symbols.size());
    symbols.push_back({id, index - 1, index + 1});
  };
  if (normalizer.adds_space_before_text) add(ascii_ids[' ']);
  while (!text.empty()) {
    const auto [size, id] = first_piece(text);
    add(id);
    text.remove_prefix(std::min(size, text.size()));
  }
  symbols.back().next = -1;
  return symbols;
}

BpeDropout::BpeDropout(const Tokenizer& tokenizer, double rate)
    : rules_(std::make_shared<Rules>(tokenizer)), rate_(rate) {
  check_as(ErrorKind::usage, rate >= 0 && rate < 1,
           "bpe dropout: expected a rate from 0 to below 1, got ", rate);
}

// Pairs of neighbours are merged as in SentencePiece, the best one first. A merge that is left out
// does not come up again; another one may, when one of the two grows with its other neighbour.
std::vector<int> BpeDropout::encode(std::string_view text, std::uint64_t key) const {
  if (text.empty()) return {};
  std::vector<Symbol> symbols = rules_->first_symbols(text);
  std::vector<Candidate> storage;
  storage.reserve(2 * symbols.size());
  std::priority_queue agenda(ComesLater{}, std::move(storage));
  const auto propose = [&](int left, int right) {
    if (left < 0 || right < 0) return;
    const Merge* merge = rules_->merges.find(symbols[left].id, symbols[right].id);
    if (merge == nullptr) return;
    const std::uint64_t turn = std::uint64_t{merge->rank} << 32 | static_cast<unsigned>(left);
    agenda.push({turn, left, right, symbols[right].id, merge->id});
  };
  for (int i = 1; i < static_cast<int>(symbols.size()); ++i) propose(i - 1, i);

  Rng rng(key);
  while (!agenda.empty()) {
    const Candidate merge = agenda.top();
    agenda.pop();
    Symbol& left = symbols[merge.left];
    Symbol& right = symbols[merge.right];
    if (left.id == merged_away || right.id != merge.right_id) continue;
    if (rng.uniform() < rate_) continue;
    left.id = merge.id;
    left.next = right.next;
    if (right.next >= 0) symbols[right.next].previous = merge.left;
    right.id = merged_away;
    propose(left.previous, merge.left);
    propose(merge.left, left.next);
  }

  std::vector<int> ids;
  for (int i = 0; i >= 0; i = symbols[i].next) {
    // A run of unknown characters is one unknown piece.
    const bool is_merged = symbols[i].id == unknown && !ids.empty() && ids.back() == unknown;
    if (!is_merged) ids.push_back(symbols[i].id);
  }
  return ids;
}

}  // namespace heed::text
