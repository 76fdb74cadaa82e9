#include "heed/data/lexicon.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed::data {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// One line of the lexicon while it is taken apart.
struct Line {
  int number;
  std::vector<std::string> columns;

  template <typename... Parts>
  void check(bool ok, const Parts&... parts) const {
    check_as(ErrorKind::data, ok, "lexicon: line ", number, ": ", parts...);
  }
  void check_columns(std::size_t number_expected) const {
    check(columns.size() == number_expected, "a ", columns[0], " has ", number_expected,
          " columns, found ", columns.size());
  }
  std::vector<std::string> forms(std::size_t column, std::size_t least) const {
    std::vector<std::string> forms = split(columns[column], '/');
    check(forms.size() == least || forms.size() == least + 1, "expected ", least, " or ", least + 1,
          " forms of the verb, found '", columns[column], "'");
    forms.resize(least + 1);
    return forms;
  }
};

WordKind parse_kind(const Line& line) {
  static const std::vector<std::string> names = {"noun", "verb", "adjective", "state", "phrase"};
  const auto name = std::find(names.begin(), names.end(), line.columns[0]);
  line.check(name != names.end(), "expected noun, verb, adjective, state or phrase, found '",
             line.columns[0], "'");
  return static_cast<WordKind>(name - names.begin());
}

Gender parse_gender(const Line& line, const std::string& letter) {
  line.check(letter == "m" || letter == "f" || letter == "n",
             "expected the gender m, f or n, found '", letter, "'");
  return letter == "m" ? Gender::masculine : letter == "f" ? Gender::feminine : Gender::neuter;
}

void parse_noun(const Line& line, Word& word) {
  line.check(line.columns.size() == 7 || line.columns.size() == 8,
             "a noun has 7 or 8 columns, found ", line.columns.size());
  word.english = line.columns[2];
  word.german = line.columns[4];
  word.noun = {.english_plural = line.columns[3],
               .gender = parse_gender(line, line.columns[5]),
               .german_plural = line.columns[6],
               .german_oblique = line.columns.size() == 8 ? line.columns[7] : word.german};
}

void parse_verb(const Line& line, Word& word) {
  line.check_columns(4);
  const auto english = line.forms(2, 4);
  const auto german = line.forms(3, 5);
  line.check(german[4] == "hat" || german[4] == "ist", "expected hat or ist, found '", german[4],
             "'");
  line.check(english[4].empty() == german[5].empty(),
             "an English particle and a German prefix come together, found '", line.columns[2],
             "' and '", line.columns[3], "'");
  word.english = english[0];
  word.german = german[0];
  word.verb = {english[1], english[2], english[3], english[4], german[1],
               german[2],  german[3],  german[4],  german[5]};
}

Word parse_word(const Line& line) {
  Word word;
  word.kind = parse_kind(line);
  line.check(line.columns.size() >= 4, "expected at least 4 columns, found ", line.columns.size());
  word.groups = split(line.columns[1], ',');
  if (word.kind == WordKind::noun) {
    parse_noun(line, word);
  } else if (word.kind == WordKind::verb) {
    parse_verb(line, word);
  } else {
    line.check_columns(4);
    word.english = line.columns[2];
    word.german = line.columns[3];
  }
  for (const std::string& column : line.columns) line.check(!column.empty(), "a column is empty");
  return word;
}

bool same_word(const Word& a, const Word& b) {
  return a.kind == b.kind && a.english == b.english && a.german == b.german &&
         a.verb.german_prefix == b.verb.german_prefix;
}

}  // namespace

Lexicon Lexicon::parse(std::string_view text) {
  Lexicon lexicon;
  int number = 0;
  for (const std::string& content : split(text, '\n')) {
    ++number;
    if (content.empty() || content[0] == '#') continue;
    const Line line{number, split(content, '\t')};
    Word word = parse_word(line);
    for (const Word& other : lexicon.words_) {
      line.check(!same_word(word, other), "'", word.english, "' stands there twice");
    }
    lexicon.words_.push_back(std::move(word));
  }
  check_as(ErrorKind::data, !lexicon.words_.empty(), "lexicon: expected words, found none");
  return lexicon;
}

std::vector<int> Lexicon::group(std::string_view name) const {
  std::vector<int> members;
  for (int i = 0; i < static_cast<int>(words_.size()); ++i) {
    const auto& groups = words_[i].groups;
    if (std::find(groups.begin(), groups.end(), name) != groups.end()) members.push_back(i);
  }
  return members;
}

int Lexicon::other_sense(int index) const {
  if (words_[index].kind != WordKind::noun) return -1;
  for (int i = 0; i < static_cast<int>(words_.size()); ++i) {
    if (i != index && words_[i].kind == WordKind::noun &&
        words_[i].english == words_[index].english) {
      return i;
    }
  }
  return -1;
}

}  // namespace heed::data
