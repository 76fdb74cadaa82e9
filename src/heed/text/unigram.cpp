#include "heed/text/unigram.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/utf8.h"

namespace heed::text {
namespace {

constexpr std::size_t max_piece_bytes = 1 << 10, max_vocabulary_bytes = 1 << 24;

const nlohmann::json& pieces_in(const io::JsonFields& fields) {
  const bool is_list = fields.has("vocab") && fields.json().at("vocab").is_array();
  check_as(ErrorKind::model, is_list, fields.place("vocab"),
           ": expected a list of pieces with their scores");
  const nlohmann::json& pieces = fields.json().at("vocab");
  check_as(ErrorKind::model, pieces.size() <= Vocabulary::max_ids, fields.place("vocab"),
           ": expected at most ", Vocabulary::max_ids, " pieces, found ", pieces.size());
  return pieces;
}

void check_piece(const nlohmann::json& entry, const std::string& place) {
  const bool is_pair =
      entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_number();
  check_as(ErrorKind::model, is_pair, place, ": expected a list of a piece and its score");
  const std::size_t size = entry[0].get_ref<const std::string&>().size();
  check_as(ErrorKind::model, size <= max_piece_bytes, place, ": expected a piece of at most ",
           max_piece_bytes, " bytes, found ", size);
}

Vocabulary read_vocabulary(const io::JsonFields& fields) {
  Vocabulary vocabulary;
  std::size_t num_bytes = 0;
  int id = 0;
  for (const nlohmann::json& entry : pieces_in(fields)) {
    check_piece(entry, fields.place("vocab[" + std::to_string(id) + ']'));
    const auto& piece = entry[0].get_ref<const std::string&>();
    num_bytes += piece.size();
    check_as(ErrorKind::model, num_bytes <= max_vocabulary_bytes, fields.place("vocab"),
             ": expected at most ", max_vocabulary_bytes, " bytes in all, found more");
    vocabulary.add(piece, id++);
  }
  return vocabulary;
}

}  // namespace

struct Unigram::Node {
  double score = 0;
  std::size_t begin = unreached;  // of the last piece
  int id = 0;

  static constexpr std::size_t unreached = std::numeric_limits<std::size_t>::max();

  void offer(double its_score, std::size_t its_begin, int its_id) {
    if (begin != unreached && its_score <= score) return;  // the first of equal ones stays
    *this = {its_score, its_begin, its_id};
  }
};

Unigram::Unigram(const io::JsonFields& fields)
    : SubwordModel(read_vocabulary(fields)), place_(fields.place("unk_id")) {
  constexpr double unknown_penalty = 10;
  double lowest = std::numeric_limits<double>::infinity();
  for (const nlohmann::json& entry : pieces_in(fields)) {
    scores_.push_back(entry[1].get<double>());
    lowest = std::min(lowest, scores_.back());
  }
  unknown_score_ = lowest - unknown_penalty;
  for (int id = 0; id < vocabulary().num_ids(); ++id) {
    const std::string_view piece = *vocabulary().piece(id);
    pieces_.add(piece, *vocabulary().find(piece));
  }
  const std::int64_t last_id = vocabulary().num_ids() - 1;
  if (fields.has("unk_id")) {
    unknown_id_ = static_cast<int>(fields.integer("unk_id", {.min = 0, .max = last_id}));
  }
  if (fields.boolean_or("byte_fallback", false)) bytes_.emplace(vocabulary());
}

int Unigram::unknown_id() const {
  check_as(ErrorKind::model, unknown_id_.has_value(), place_,
           ": expected the id of a piece for text that is unknown, found none");
  return *unknown_id_;
}

// Viterbi's algorithm.
std::vector<Unigram::Node> Unigram::best_ways(std::string_view word) const {
  std::vector<Node> ends(word.size() + 1);
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t size = std::min(utf8_length(word[at]), word.size() - at);
    const double score = ends[at].score;
    bool has_character = false;
    pieces_.find_all(word.substr(at), [&](PieceTrie::Match match) {
      ends[at + match.size].offer(score + scores_[static_cast<std::size_t>(match.value)], at,
                                  match.value);
      has_character |= match.size == size;
    });
    if (!has_character) ends[at + size].offer(score + unknown_score_, at, unknown_id());
    at += size;
  }
  return ends;
}

void Unigram::segment(std::string_view word, std::vector<WordPart>& parts) const {
  const std::vector<Node> ends = best_ways(word);
  std::vector<WordPart> backwards;
  for (std::size_t end = word.size(); end > 0; end = ends[end].begin) {
    const bool is_unknown = ends[end].id == unknown_id_;
    if (is_unknown && !backwards.empty() && backwards.back().is_as_written) {
      backwards.back().range.begin = ends[end].begin;
    } else {
      backwards.push_back({ends[end].id, {ends[end].begin, end}, is_unknown});
    }
  }
  for (auto part = backwards.rbegin(); part != backwards.rend(); ++part) {
    if (part->is_as_written) {
      add_unknown(word, part->range, parts);
    } else {
      parts.push_back(*part);
    }
  }
}

void Unigram::add_unknown(std::string_view word, ByteRange range,
                          std::vector<WordPart>& parts) const {
  const std::string_view text = word.substr(range.begin, range.end - range.begin);
  if (const auto id = vocabulary().find(text)) return parts.push_back({*id, range});
  if (!bytes_ || !bytes_->has_all(text)) return parts.push_back({unknown_id(), range, true});
  for (const char byte : text) parts.push_back({bytes_->id(byte), range});
}

}  // namespace heed::text
