#include "heed/text/bpe.h"

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/printable.h"
#include "heed/base/utf8.h"
#include "heed/text/word_cache.h"

namespace heed::text {
namespace {

// What waits for its turn: a merge of the symbol at a place with the one after it.
struct Candidate {
  std::uint64_t turn;  // by rank, then from left to right
  int id;              // of what the two make together

  std::size_t place() const { return turn & 0xffffffff; }
};

struct ComesLater {
  bool operator()(const Candidate& a, const Candidate& b) const { return a.turn > b.turn; }
};

std::uint64_t next_serial() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

// "a b" in older files, ["a", "b"] in newer ones.
std::pair<std::string_view, std::string_view> merge_of(const nlohmann::json& entry,
                                                       const std::string& place) {
  if (entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_string()) {
    return {entry[0].get_ref<const std::string&>(), entry[1].get_ref<const std::string&>()};
  }
  check_as(ErrorKind::model, entry.is_string(), place, ": expected two pieces");
  const std::string_view text = entry.get_ref<const std::string&>();
  check_as(ErrorKind::model, std::ranges::count(text, ' ') == 1, place,
           ": expected two pieces with a space between them, found \"", excerpt(text), '"');
  const std::size_t space = text.find(' ');
  return {text.substr(0, space), text.substr(space + 1)};
}

// The first line of the files that older merges come from.
bool is_version(const nlohmann::json& entry) {
  return entry.is_string() && entry.get_ref<const std::string&>().starts_with("#version");
}

}  // namespace

struct Bpe::Symbol {
  int id;
  int previous;
  int next;            // -1: none
  std::uint32_t size;  // in bytes of the word; 0: merged away
};

struct Bpe::Scratch {
  std::vector<Symbol> symbols;
  std::vector<Candidate> candidates;  // a heap

  void add(int id, std::size_t size) {
    const int place = static_cast<int>(symbols.size());
    if (place > 0) symbols.back().next = place;
    symbols.push_back({id, place - 1, -1, static_cast<std::uint32_t>(size)});
  }
};

Bpe::Bpe(const io::JsonFields& fields)
    : SubwordModel(Vocabulary::read(fields, "vocab")),
      unknown_(fields, vocabulary()),
      prefix_(fields.text_or("continuing_subword_prefix", "")),
      suffix_(fields.text_or("end_of_word_suffix", "")),
      fuses_unknown_(fields.boolean_or("fuse_unk", false)),
      takes_whole_words_(fields.boolean_or("ignore_merges", false)),
      serial_(next_serial()) {
  const double dropout = fields.number_or("dropout", 0);
  check_as(ErrorKind::model, dropout == 0, fields.place("dropout"),
           ": expected none, as a text is to get the same tokens every time, found ", dropout);
  if (fields.boolean_or("byte_fallback", false)) bytes_.emplace(vocabulary());
  read_merges(fields);
}

void Bpe::read_merges(const io::JsonFields& fields) {
  const bool is_list = fields.has("merges") && fields.json().at("merges").is_array();
  check_as(ErrorKind::model, is_list, fields.place("merges"), ": expected a list of merges");
  std::uint32_t rank = 0;
  for (const nlohmann::json& entry : fields.json().at("merges")) {
    if (is_version(entry)) continue;
    const std::string place = fields.place("merges[" + std::to_string(rank) + ']');
    const auto [left, right] = merge_of(entry, place);
    add_merge(left, right, rank++, place);
  }
}

void Bpe::add_merge(std::string_view left, std::string_view right, std::uint32_t rank,
                    const std::string& place) {
  check_as(ErrorKind::model, right.size() >= prefix_.size(), place,
           ": expected a piece with the prefix ", excerpt(prefix_), ", found \"", excerpt(right),
           '"');
  const std::string merged = std::string(left).append(right.substr(prefix_.size()));
  merges_.add(id_of(left, place), id_of(right, place), {rank, id_of(merged, place)});
}

int Bpe::id_of(std::string_view piece, const std::string& place) const {
  const std::optional<int> id = vocabulary().find(piece);
  check_as(ErrorKind::model, id.has_value(), place, ": expected pieces of the vocabulary, found \"",
           excerpt(piece), '"');
  return *id;
}

std::string Bpe::with_affixes(std::string_view character, bool is_first, bool is_last) const {
  std::string piece(is_first ? "" : prefix_);
  piece += character;
  return is_last ? piece + suffix_ : piece;
}

std::optional<int> Bpe::character_id(std::string_view character, bool is_first,
                                     bool is_last) const {
  const bool is_plain = (is_first || prefix_.empty()) && (!is_last || suffix_.empty());
  if (is_plain) return vocabulary().find(character);
  return vocabulary().find(with_affixes(character, is_first, is_last));
}

// Makes the characters of a word symbols. A run of unknown characters waits until its end.
class Bpe::FirstSymbols {
 public:
  FirstSymbols(const Bpe& bpe, Scratch& scratch) : bpe_(bpe), scratch_(scratch) {}

  void add(std::string_view character, bool is_first, bool is_last) {
    if (const auto id = bpe_.character_id(character, is_first, is_last)) {
      finish_unknown();
      scratch_.add(*id, character.size());
    } else if (!fall_back_to_bytes(character, is_first, is_last) && bpe_.unknown_.is_named()) {
      if (!bpe_.fuses_unknown_) finish_unknown();
      unknown_size_ += character.size();
    }
  }

  void finish_unknown() {
    if (unknown_size_ == 0) return;
    scratch_.add(bpe_.unknown_.id(), unknown_size_);
    unknown_size_ = 0;
  }

 private:
  bool fall_back_to_bytes(std::string_view character, bool is_first, bool is_last) {
    if (!bpe_.bytes_) return false;
    const std::string bytes = bpe_.with_affixes(character, is_first, is_last);
    if (!bpe_.bytes_->has_all(bytes)) return false;
    for (const char byte : bytes) scratch_.add(bpe_.bytes_->id(byte), 1);
    return true;
  }

  const Bpe& bpe_;
  Scratch& scratch_;
  std::size_t unknown_size_ = 0;
};

// A candidate is still good if the two symbols at its place make the same piece.
void Bpe::merge(Scratch& scratch) const {
  std::vector<Symbol>& symbols = scratch.symbols;
  std::vector<Candidate>& heap = scratch.candidates;
  // Appends the merge of a symbol with the next one, if there is one.
  const auto propose = [&](int left) {
    if (left < 0 || symbols[static_cast<std::size_t>(left)].next < 0) return false;
    const Symbol& symbol = symbols[static_cast<std::size_t>(left)];
    const Merge* found = merges_.find(symbol.id, symbols[static_cast<std::size_t>(symbol.next)].id);
    if (found == nullptr) return false;
    heap.push_back(
        {std::uint64_t{found->rank} << 32 | static_cast<std::uint32_t>(left), found->id});
    return true;
  };
  for (int i = 0; i + 1 < static_cast<int>(symbols.size()); ++i) propose(i);
  std::ranges::make_heap(heap, ComesLater());

  while (!heap.empty()) {
    std::ranges::pop_heap(heap, ComesLater());
    const Candidate best = heap.back();
    heap.pop_back();
    Symbol& left = symbols[best.place()];
    if (left.size == 0 || left.next < 0) continue;
    Symbol& right = symbols[static_cast<std::size_t>(left.next)];
    const Merge* found = merges_.find(left.id, right.id);
    if (found == nullptr || found->id != best.id) continue;
    left.id = best.id;
    left.size += right.size;
    left.next = right.next;
    right.size = 0;
    const int place = static_cast<int>(best.place());
    if (left.next >= 0) symbols[static_cast<std::size_t>(left.next)].previous = place;
    if (propose(left.previous)) std::ranges::push_heap(heap, ComesLater());
    if (propose(place)) std::ranges::push_heap(heap, ComesLater());
  }
}

void Bpe::segment_anew(std::string_view word, std::vector<WordPart>& parts) const {
  thread_local Scratch scratch;
  scratch.symbols.clear();
  scratch.candidates.clear();
  FirstSymbols first(*this, scratch);
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t size = std::min(utf8_length(word[at]), word.size() - at);
    first.add(word.substr(at, size), at == 0, at + size == word.size());
    at += size;
  }
  first.finish_unknown();
  merge(scratch);
  std::size_t begin = 0;
  for (const Symbol& symbol : scratch.symbols) {
    if (symbol.size == 0) continue;
    parts.push_back({symbol.id, {begin, begin + symbol.size}});
    begin += symbol.size;
  }
}

void Bpe::segment(std::string_view word, std::vector<WordPart>& parts) const {
  if (takes_whole_words_) {
    if (const auto id = vocabulary().find(word)) return parts.push_back({*id, {0, word.size()}});
  }
  WordCache& cache = WordCache::of_this_thread();
  if (const auto* known = cache.find(serial_, word)) {
    parts.insert(parts.end(), known->begin(), known->end());
    return;
  }
  const std::size_t first = parts.size();
  segment_anew(word, parts);
  cache.add(serial_, word, {parts.begin() + static_cast<std::ptrdiff_t>(first), parts.end()});
}

}  // namespace heed::text
