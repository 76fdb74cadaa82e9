#include "heed/data/sentence_pattern.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "heed/base/error.h"

namespace heed::data {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

const std::map<std::string, Determiner, std::less<>> determiners = {{"the", Determiner::the},
                                                                    {"a", Determiner::a},
                                                                    {"this", Determiner::this_one},
                                                                    {"my", Determiner::my},
                                                                    {"two", Determiner::two}};
const std::map<std::string, Case, std::less<>> cases = {
    {"nom", Case::nominative}, {"acc", Case::accusative}, {"dat", Case::dative}};
const std::map<std::string, VerbForm, std::less<>> verb_forms = {
    {"pres", VerbForm::present},  {"past", VerbForm::past},     {"inf", VerbForm::infinitive},
    {"pp", VerbForm::participle}, {"aux", VerbForm::auxiliary}, {"particle", VerbForm::particle}};

std::string capitalize(std::string sentence) {
  if (sentence[0] >= 'a' && sentence[0] <= 'z') sentence[0] += 'A' - 'a';
  return sentence;
}

}  // namespace

class PatternParser {
 public:
  explicit PatternParser(const Lexicon& lexicon) : lexicon_(lexicon) {}

  std::vector<SentencePattern> parse(std::string_view text) {
    std::istringstream in{std::string(text)};
    for (std::string line; std::getline(in, line);) {
      ++line_number_;
      if (!line.empty() && line[0] != '#') parse_line(line);
    }
    finish_pattern();
    check(!patterns_.empty(), "expected patterns, found none");
    return std::move(patterns_);
  }

 private:
  template <typename... Parts>
  void check(bool ok, const Parts&... parts) const {
    check_as(ErrorKind::data, ok, "patterns: line ", line_number_, ": ", parts...);
  }

  SentencePattern& pattern() { return patterns_.back(); }

  void parse_line(const std::string& line) {
    const std::size_t space = std::min(line.find(' '), line.size());
    const std::string key = line.substr(0, space);
    const std::string value = line.substr(std::min(space + 1, line.size()));
    check(!value.empty(), "expected something after '", key, "'");
    check(key == "pattern" || !patterns_.empty(), "expected 'pattern' first, found '", key, "'");
    if (key == "pattern") {
      finish_pattern();
      patterns_.emplace_back().name_ = value;
    } else if (key == "weight") {
      parse_weight(value);
    } else if (key == "label") {
      label_ = words_of(value);
    } else if (key == "slots") {
      for (const std::string& word : words_of(value)) parse_slot(word);
    } else if (key == "en") {
      pattern().english_ = parse_template(value);
    } else {
      check(key == "de", "expected pattern, weight, label, slots, en or de, found '", key, "'");
      pattern().german_ = parse_template(value);
    }
  }

  void parse_weight(const std::string& value) {
    const bool is_number = value.size() < 7 && value.find_first_not_of("0123456789") == value.npos;
    check(is_number && value != "0", "expected a positive weight, found '", value, "'");
    pattern().weight_ = std::stoll(value);
  }

  void parse_slot(std::string text) {
    Slot slot;
    slot.is_optional = text.back() == '?';
    if (slot.is_optional) text.pop_back();
    const std::size_t equals = text.find('=');
    check(equals != text.npos && equals > 0, "expected NAME=group, found '", text, "'");
    slot.name = text.substr(0, equals);
    check(find_slot(slot.name) < 0, "slot ", slot.name, " is there twice");
    std::istringstream groups(text.substr(equals + 1));
    for (std::string group; std::getline(groups, group, '|');) {
      const std::vector<int> members = lexicon_.group(group);
      check(!members.empty(), "the lexicon has no group '", group, "'");
      slot.choices.insert(slot.choices.end(), members.begin(), members.end());
    }
    std::sort(slot.choices.begin(), slot.choices.end());
    slot.choices.erase(std::unique(slot.choices.begin(), slot.choices.end()), slot.choices.end());
    for (const int choice : slot.choices) {
      check(lexicon_.word(choice).kind == lexicon_.word(slot.choices[0]).kind, "slot ", slot.name,
            " mixes kinds of words");
    }
    check(!slot.is_optional || lexicon_.word(slot.choices[0]).kind == WordKind::adjective,
          "only adjectives can be left out, not those in slot ", slot.name);
    pattern().slots_.push_back(std::move(slot));
  }

  int find_slot(std::string_view name) {
    const auto& slots = pattern().slots_;
    const auto match = std::find_if(slots.begin(), slots.end(),
                                    [&](const Slot& slot) { return slot.name == name; });
    return match == slots.end() ? -1 : static_cast<int>(match - slots.begin());
  }

  int slot_of_kind(const std::string& name, WordKind kind, const char* expected) {
    const int slot = find_slot(name);
    check(slot >= 0, "there is no slot '", name, "'");
    check(kind_of(slot) == kind, "expected ", expected, " in slot ", name);
    return slot;
  }

  WordKind kind_of(int slot) { return lexicon_.word(pattern().slots_[slot].choices[0]).kind; }

  std::vector<Piece> parse_template(std::string_view text) {
    std::vector<Piece> pieces;
    while (!text.empty()) {
      const std::size_t open = std::min(text.find('{'), text.size());
      if (open > 0) pieces.emplace_back().text = text.substr(0, open);
      text.remove_prefix(open);
      if (text.empty()) break;
      const std::size_t close = text.find('}');
      check(close != text.npos, "'{' without '}'");
      pieces.push_back(parse_piece(words_of(text.substr(1, close - 1))));
      text.remove_prefix(close + 1);
    }
    return pieces;
  }

  Piece parse_piece(const std::vector<std::string>& words) {
    check(!words.empty(), "nothing between '{' and '}'");
    Piece piece;
    std::size_t next = 1;
    if (const auto entry = determiners.find(words[0]); entry != determiners.end()) {
      piece.kind = Piece::Kind::noun_phrase;
      piece.determiner = entry->second;
      for (; next < words.size() && find_slot(words[next]) >= 0; ++next) {
        piece.slots.push_back(find_slot(words[next]));
      }
      check_noun_phrase(piece);
    } else if (words[0] == "it" || words[0] == "It" || words[0] == "which") {
      check(words.size() > 1, "expected a slot after '", words[0], "'");
      piece.kind = words[0] == "which" ? Piece::Kind::relative_pronoun : Piece::Kind::pronoun;
      piece.is_capital = words[0] == "It";
      piece.slots = {slot_of_kind(words[next++], WordKind::noun, "a noun")};
    } else {
      const int slot = find_slot(words[0]);
      check(slot >= 0, "there is no determiner or slot '", words[0], "'");
      check(kind_of(slot) != WordKind::noun && kind_of(slot) != WordKind::adjective, "slot ",
            words[0], " needs a determiner");
      piece.kind = kind_of(slot) == WordKind::verb ? Piece::Kind::verb : Piece::Kind::plain_word;
      piece.slots = {slot};
    }
    parse_features({words.begin() + static_cast<std::ptrdiff_t>(next), words.end()}, piece);
    return piece;
  }

  void check_noun_phrase(const Piece& piece) {
    check(!piece.slots.empty() && kind_of(piece.slots.back()) == WordKind::noun,
          "expected a noun's slot after the determiner");
    for (std::size_t i = 0; i + 1 < piece.slots.size(); ++i) {
      check(kind_of(piece.slots[i]) == WordKind::adjective,
            "expected adjectives before the noun in slot ", pattern().slots_[piece.slots[i]].name);
    }
  }

  void parse_features(const std::vector<std::string>& features, Piece& piece) {
    bool has_form = false;
    for (const std::string& feature : features) {
      if (const auto entry = cases.find(feature); entry != cases.end()) {
        piece.grammatical_case = entry->second;
      } else if (const auto form = verb_forms.find(feature); form != verb_forms.end()) {
        piece.verb_form = form->second;
        has_form = true;
      } else if (feature == "final") {
        piece.verb_place = VerbPlace::final;
      } else {
        check(feature == "pl", "there is no slot, case or form '", feature, "'");
        piece.number = Number::plural;
      }
    }
    check((piece.kind == Piece::Kind::verb) == has_form,
          has_form ? "only a verb has a form"
                   : "expected pres, past, inf, pp, aux or particle after a verb");
  }

  void finish_pattern() {
    if (patterns_.empty()) return;
    const std::string& name = pattern().name_;
    check(pattern().weight_ > 0, "pattern ", name, " has no weight");
    check(!pattern().slots_.empty(), "pattern ", name, " has no slots");
    check_uses_every_slot(pattern().english_, "en");
    check_uses_every_slot(pattern().german_, "de");
    finish_label();
    label_.clear();
  }

  void check_uses_every_slot(const std::vector<Piece>& pieces, const char* language) {
    const auto& slots = pattern().slots_;
    for (int slot = 0; slot < static_cast<int>(slots.size()); ++slot) {
      const bool is_used = std::any_of(pieces.begin(), pieces.end(), [&](const Piece& piece) {
        return std::find(piece.slots.begin(), piece.slots.end(), slot) != piece.slots.end();
      });
      check(is_used, "pattern ", pattern().name_, ": '", language, "' does not use slot ",
            slots[slot].name);
    }
  }

  void finish_label() {
    if (label_.empty()) return;
    const bool is_pronoun = label_.size() == 3 && label_[0] == "pronoun";
    const bool is_sense = label_.size() == 2 && label_[0] == "sense";
    check(is_pronoun || is_sense, "expected 'pronoun SLOT SLOT' or 'sense SLOT' as the label of ",
          pattern().name_);
    pattern().phenomenon_ = is_pronoun ? Phenomenon::pronoun : Phenomenon::sense;
    pattern().labelled_slot_ = slot_of_kind(label_[1], WordKind::noun, "a noun");
    pattern().rival_slot_ = slot_of_kind(label_.back(), WordKind::noun, "a noun");
    if (is_pronoun) return;
    for (const int word : pattern().slots_[pattern().labelled_slot_].choices) {
      check(lexicon_.other_sense(word) >= 0, "'", lexicon_.word(word).english,
            "' has one sense only");
    }
  }

  const Lexicon& lexicon_;
  int line_number_ = 0;
  std::vector<SentencePattern> patterns_;
  std::vector<std::string> label_;
};

std::vector<SentencePattern> SentencePattern::parse(std::string_view text, const Lexicon& lexicon) {
  return PatternParser(lexicon).parse(text);
}

std::int64_t SentencePattern::num_choices() const {
  std::int64_t product = 1;
  for (const Slot& slot : slots_) {
    product *= static_cast<std::int64_t>(slot.choices.size()) + (slot.is_optional ? 1 : 0);
  }
  return product;
}

// The number is written with one digit for each slot; the last digit of an optional slot is no
// word.
bool SentencePattern::choose(std::int64_t number, Choice& choice) const {
  choice.clear();
  for (const Slot& slot : slots_) {
    const auto num_words = static_cast<std::int64_t>(slot.choices.size());
    const std::int64_t base = num_words + (slot.is_optional ? 1 : 0);
    const std::int64_t digit = number % base;
    number /= base;
    const int word = digit < num_words ? slot.choices[static_cast<std::size_t>(digit)] : no_word;
    if (word != no_word && std::find(choice.begin(), choice.end(), word) != choice.end())
      return false;
    choice.push_back(word);
  }
  return true;
}

namespace {

struct PhraseWords {
  std::vector<const Word*> adjectives;
  const Word* noun;
};

PhraseWords words_in_phrase(const Piece& piece, const Choice& choice, const Lexicon& lexicon) {
  PhraseWords words;
  for (const int slot : piece.slots) {
    if (choice[slot] != no_word) words.adjectives.push_back(&lexicon.word(choice[slot]));
  }
  words.noun = words.adjectives.back();
  words.adjectives.pop_back();
  return words;
}

std::string english_piece(const Piece& piece, const Choice& choice, const Lexicon& lexicon) {
  switch (piece.kind) {
    case Piece::Kind::text:
      return piece.text;
    case Piece::Kind::noun_phrase: {
      const PhraseWords words = words_in_phrase(piece, choice, lexicon);
      return english_noun_phrase(piece.determiner, words.adjectives, *words.noun, piece.number);
    }
    case Piece::Kind::pronoun:
      return piece.is_capital ? "It" : "it";
    case Piece::Kind::relative_pronoun:
      return "that";
    case Piece::Kind::verb:
      return english_verb(lexicon.word(choice[piece.slots[0]]), piece.verb_form, piece.number);
    case Piece::Kind::plain_word:
      break;
  }
  return lexicon.word(choice[piece.slots[0]]).english;
}

std::string german_piece(const Piece& piece, const Choice& choice, const Lexicon& lexicon) {
  if (piece.kind == Piece::Kind::text) return piece.text;
  const Word& word = lexicon.word(choice[piece.slots.back()]);
  switch (piece.kind) {
    case Piece::Kind::noun_phrase: {
      const PhraseWords words = words_in_phrase(piece, choice, lexicon);
      return german_noun_phrase(piece.determiner, words.adjectives, *words.noun,
                                piece.grammatical_case, piece.number);
    }
    case Piece::Kind::pronoun: {
      const std::string pronoun = german_pronoun(word.noun.gender, piece.grammatical_case);
      return piece.is_capital ? capitalize(pronoun) : pronoun;
    }
    case Piece::Kind::relative_pronoun:
      // In these cases and in the singular, the relative pronoun is the definite article.
      return german_determiner(Determiner::the, word.noun.gender, piece.grammatical_case,
                               Number::singular);
    case Piece::Kind::verb:
      return german_verb(word, piece.verb_form, piece.verb_place, piece.number);
    default:
      return word.german;
  }
}

}  // namespace

std::string SentencePattern::english(const Choice& choice, const Lexicon& lexicon) const {
  std::string sentence;
  for (const Piece& piece : english_) sentence += english_piece(piece, choice, lexicon);
  return capitalize(sentence);
}

std::string SentencePattern::german(const Choice& choice, const Lexicon& lexicon) const {
  std::string sentence;
  for (const Piece& piece : german_) sentence += german_piece(piece, choice, lexicon);
  return capitalize(contract_prepositions(sentence));
}

std::string SentencePattern::german_noun_of(int slot, int word, const Lexicon& lexicon) const {
  for (const Piece& piece : german_) {
    if (piece.kind == Piece::Kind::noun_phrase && piece.slots.back() == slot) {
      return german_noun(lexicon.word(word), piece.grammatical_case,
                         number_with(piece.determiner, piece.number));
    }
  }
  return "";
}

}  // namespace heed::data
