#include "heed/data/record_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "heed/base/error.h"
#include "heed/base/printable.h"

namespace heed::data {
namespace {

using Names = std::vector<std::string>;
using Row = text::CsvRow;

// Rows in which the cells of a header do not occur again.
constexpr std::size_t rows_looked_at = 1000;
constexpr std::size_t max_name_bytes = 32;
// Words that make a cell a text rather than a name.
constexpr std::size_t words_of_text = 4;

// Names of columns that are neither labels nor texts.
const std::set<std::string> other_columns{"id",       "idx",   "index",  "guid",  "uid", "lang",
                                          "language", "score", "rating", "stars", "url", "split"};

// Columns that are named after their language.
const std::set<std::string> languages{
    "ar",      "bg",       "cs",      "da",         "de",     "el",      "en",      "es",
    "et",      "fa",       "fi",      "fr",         "he",     "hi",      "hr",      "hu",
    "id",      "it",       "ja",      "ko",         "lt",     "lv",      "nl",      "no",
    "pl",      "pt",       "ro",      "ru",         "sk",     "sl",      "sv",      "th",
    "tr",      "uk",       "vi",      "zh",         "arabic", "chinese", "czech",   "danish",
    "dutch",   "english",  "finnish", "french",     "german", "greek",   "hebrew",  "hindi",
    "italian", "japanese", "korean",  "portuguese", "polish", "russian", "spanish", "swedish",
    "turkish"};

// Lower case, with one way to separate words: "Source Text" and "source-text" are one name.
std::string key_of(std::string_view name) {
  std::string key;
  for (const char c : name) {
    const bool is_separator = c == ' ' || c == '-';
    key += is_separator ? '_' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return key;
}

// sentence1 and sentence_2 are columns of sentences.
std::string unnumbered_key(std::string_view name) {
  const std::string key = key_of(name);
  const std::size_t last = key.find_last_not_of("0123456789_");
  return last == key.npos ? std::string() : key.substr(0, last + 1);
}

// "label, text", cut short: a first line may be a page of text.
std::string list_names(const Names& names) {
  std::string list;
  for (const std::string& name : names) list.append(list.empty() ? "" : ", ").append(name);
  return excerpt(list);
}

Names names_of(std::span<const FieldRole> roles) {
  Names names;
  for (const FieldRole& role : roles) names.push_back(role.name);
  return names;
}

// "LABEL,TEXT": what the fields stand for.
std::string placeholders(std::span<const FieldRole> roles) {
  std::string text;
  for (const FieldRole& role : roles) {
    text.append(text.empty() ? "" : ",");
    for (const char c : role.name) text += c == '_' ? c : static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

std::string quote_name(const std::string& name) { return fmt::format("'{}'", excerpt(name)); }

std::string count_columns(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " column" : " columns");
}

std::optional<std::size_t> as_number(const std::string& field) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), number);
  if (error != std::errc() || end != field.data() + field.size() || number == 0) return {};
  return number;
}

bool are_numbers(const Names& fields) {
  return !fields.empty() && std::ranges::all_of(fields, [](const std::string& field) {
    return as_number(field).has_value();
  });
}

// The places of a name among others: as it is written if it is there, otherwise without case.
std::vector<std::size_t> places_of(const std::string& name, const Names& names) {
  std::vector<std::size_t> same, similar;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) same.push_back(i);
    if (key_of(names[i]) == key_of(name)) similar.push_back(i);
  }
  return same.empty() ? similar : same;
}

// Those of the role's own name if there are any, otherwise of all its names.
std::vector<std::size_t> places_of(const FieldRole& role, const Names& names) {
  std::vector<std::size_t> places = places_of(role.name, names);
  if (!places.empty()) return places;
  for (const std::string& name : role.names) {
    for (const std::size_t place : places_of(name, names)) places.push_back(place);
  }
  return places;
}

// Those that must be there, and those of the others that are named.
std::vector<FieldRole> roles_among(const Names& names, std::span<const FieldRole> roles,
                                   const RecordOptions& options) {
  std::vector<FieldRole> found;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    const bool is_named =
        options.fields.empty() ? !places_of(roles[i], names).empty() : i < options.fields.size();
    if (!roles[i].is_optional || is_named) found.push_back(roles[i]);
  }
  return found;
}

std::vector<FieldRole> roles_that_must_be(std::span<const FieldRole> roles) {
  std::vector<FieldRole> some;
  std::ranges::copy_if(roles, std::back_inserter(some),
                       [](const FieldRole& role) { return !role.is_optional; });
  return some;
}

// What is looked for in a header: given names, or the names of roles.
struct Wanted {
  std::span<const FieldRole> roles;
  const RecordOptions& options;

  bool is_by_role() const { return options.fields.empty(); }
  std::string name(std::size_t i) const { return is_by_role() ? roles[i].name : options.fields[i]; }
  std::vector<std::size_t> places(std::size_t i, const Names& names) const {
    return is_by_role() ? places_of(roles[i], names) : places_of(options.fields[i], names);
  }
  std::size_t num_found(const Names& names) const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < roles.size(); ++i) count += !places(i, names).empty();
    return count;
  }
};

// `remedy` ends the message: what to do.
std::size_t only_place(const Wanted& wanted, std::size_t role, const Names& names,
                       const std::string& where, const std::string& remedy) {
  const std::vector<std::size_t> places = wanted.places(role, names);
  check_as(ErrorKind::data, !places.empty(), where, "expected a column '", wanted.name(role),
           "', found ", list_names(names), remedy);
  check_as(ErrorKind::data, places.size() == 1, where, "expected one column '", wanted.name(role),
           "', found several", wanted.is_by_role() ? ": " + list_names(names) + remedy : "");
  return places.front();
}

std::string header_remedy(const Wanted& wanted, bool is_certain) {
  std::string remedy = "; say which with `fields` " + placeholders(wanted.roles);
  if (!is_certain) remedy += ", or `no_header` if that is data";
  if (wanted.is_by_role()) return remedy;
  return is_certain ? "" : "; without a header, `fields` takes numbers, like 1,2";
}

Columns columns_of_header(const Names& header, const Wanted& wanted, const std::string& where) {
  Columns columns{.of_role = {}, .names = {}, .has_header = true};
  const bool is_certain = wanted.options.has_header.has_value();
  for (std::size_t i = 0; i < wanted.roles.size(); ++i) {
    columns.of_role.push_back(
        only_place(wanted, i, header, where, header_remedy(wanted, is_certain)));
    columns.names.push_back(quote_name(header[columns.of_role.back()]));
  }
  const bool is_shared = std::ranges::count(columns.of_role, columns.of_role.front()) > 1;
  check_as(ErrorKind::data, !is_shared, where, "expected different columns for ",
           list_names(names_of(wanted.roles)), ", found ", list_names(header),
           header_remedy(wanted, is_certain));
  return columns;
}

Columns numbered_columns(const std::vector<std::size_t>& numbers, std::size_t width,
                         const std::string& where) {
  Columns columns;
  for (const std::size_t number : numbers) {
    check_as(ErrorKind::data, number <= width, where, "expected a column ", number, ", found ",
             count_columns(width));
    columns.of_role.push_back(number - 1);
    columns.names.push_back("column " + std::to_string(number));
  }
  return columns;
}

bool is_name_like(const std::string& cell) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto may_be_in_name = [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == ' ';
  };
  return !cell.empty() && cell.size() <= max_name_bytes && is_letter(cell.front()) &&
         std::ranges::all_of(cell, may_be_in_name) && std::ranges::count(cell, ' ') <= 1;
}

bool is_column_word(const std::string& cell) {
  static const std::vector<FieldRole> labelled =
      labelled_roles(ProblemType::single_label, TextPairs::always);
  const auto has_name = [&](const FieldRole& role) { return is_named(role, cell); };
  return other_columns.contains(unnumbered_key(cell)) || std::ranges::any_of(labelled, has_name) ||
         std::ranges::any_of(pair_roles(), has_name) ||
         std::ranges::any_of(prompt_roles(), has_name);
}

bool has_text(const Row& row) {
  return std::ranges::any_of(row.fields, [](const std::string& cell) {
    return static_cast<std::size_t>(std::ranges::count(cell, ' ')) + 1 >= words_of_text;
  });
}

bool occurs_again(std::span<const Row> rows) {
  const Names& first = rows.front().fields;
  for (const Row& row : rows.subspan(1, std::min(rows.size() - 1, rows_looked_at))) {
    for (std::size_t i = 0; i < std::min(first.size(), row.fields.size()); ++i) {
      if (row.fields[i] == first[i]) return true;
    }
  }
  return false;
}

// Of a file in which no name was asked for, or not all of them were found.
bool looks_like_header(std::span<const Row> rows) {
  const Names& first = rows.front().fields;
  std::set<std::string> keys;
  for (const std::string& cell : first) keys.insert(key_of(cell));
  if (first.size() < 2 || keys.size() < first.size()) return false;
  if (!std::ranges::all_of(first, is_name_like) || occurs_again(rows)) return false;
  const auto num_words = std::ranges::count_if(first, is_column_word);
  if (num_words >= 2) return true;
  const auto num_languages =
      std::ranges::count_if(keys, [](const std::string& key) { return languages.contains(key); });
  return (num_words == 1 || num_languages >= 2) && rows.size() > 1 && has_text(rows[1]);
}

bool is_header(std::span<const Row> rows, const Wanted& wanted, const TableFormat& format) {
  if (wanted.options.has_header) return *wanted.options.has_header;
  const Names& first = rows.front().fields;
  const auto has_name = [&](const FieldRole& role) { return !places_of(role.name, first).empty(); };
  if (wanted.is_by_role()) {
    // In a table whose columns all have a role, one name alone may be a word like any other.
    const auto num_named = std::ranges::count_if(wanted.roles, has_name);
    const bool is_named =
        num_named == std::ssize(wanted.roles) || (!format.may_be_wider && num_named > 0);
    return is_named || looks_like_header(rows);
  }
  return !are_numbers(wanted.options.fields) || looks_like_header(rows);
}

Columns columns_by_number(std::span<const Row> rows, const Wanted& wanted, bool has_header,
                          const std::string& where) {
  std::vector<std::size_t> numbers;
  for (const std::string& field : wanted.options.fields) {
    const auto number = as_number(field);
    check_as(ErrorKind::usage, number.has_value(),
             "`fields`: without a header, expected numbers of columns, like 1,2, found ", field);
    numbers.push_back(*number);
  }
  Columns columns = numbered_columns(numbers, rows.front().fields.size(), where);
  columns.has_header = has_header;
  return columns;
}

Columns columns_by_order(const Names& first, std::span<const FieldRole> roles,
                         const TableFormat& format, const std::string& where) {
  const std::size_t count = roles.size();
  if (format.may_be_wider) {
    check_as(ErrorKind::data, first.size() >= count, where, "expected ", count_columns(count), " (",
             list_names(names_of(roles)), ") with a ", format.separator, " between them, found ",
             first.size());
  } else {
    check_as(ErrorKind::data, first.size() == count, where, "expected a header with ",
             list_names(names_of(roles)), ", or ", count_columns(count), ", found ",
             count_columns(first.size()), ": ", list_names(first));
  }
  std::vector<std::size_t> numbers;
  for (std::size_t i = 1; i <= count; ++i) numbers.push_back(i);
  return numbered_columns(numbers, first.size(), where);
}

}  // namespace

const std::vector<FieldRole>& labelled_roles() {
  static const std::vector<FieldRole> roles{
      {"label",
       {"label", "labels", "category", "class", "intent", "sentiment", "target", "tag", "topic",
        "emotion"}},
      {"text",
       {"text", "texts", "sentence", "utterance", "question", "query", "review", "content",
        "comment", "message", "tweet", "document", "body", "phrase"}}};
  return roles;
}

std::vector<FieldRole> labelled_roles(ProblemType problem, TextPairs pairs) {
  std::vector<FieldRole> roles = labelled_roles();
  const auto add = [](FieldRole& role, const Names& names) {
    role.names.insert(role.names.end(), names.begin(), names.end());
  };
  if (problem == ProblemType::regression) {
    roles[0].value = JsonValue::number;
    add(roles[0], {"score", "scores", "rating", "similarity", "value"});
  }
  if (problem == ProblemType::multi_label) {
    roles[0].value = JsonValue::list;
    add(roles[0], {"categories", "classes", "tags", "topics", "emotions", "genres"});
  }
  if (pairs == TextPairs::never) return roles;
  add(roles[1], {"text1", "text_1", "text_a", "sentence1", "sentence_1", "sentence_a", "question1",
                 "question_1", "premise"});
  roles.push_back({"text_pair",
                   {"text_pair", "text2", "text_2", "text_b", "sentence2", "sentence_2",
                    "sentence_b", "question2", "question_2", "hypothesis"},
                   JsonValue::whole_number,
                   pairs == TextPairs::if_named});
  return roles;
}

const std::vector<FieldRole>& pair_roles() {
  static const std::vector<FieldRole> roles{
      {"source",
       {"source", "src", "source_text", "input", "question", "query", "article", "document", "body",
        "text", "original", "prompt", "context"}},
      {"target",
       {"target", "tgt", "target_text", "output", "answer", "response", "summary", "subject",
        "highlights", "translation", "completion", "title", "headline", "reference"}}};
  return roles;
}

const std::vector<FieldRole>& prompt_roles() {
  static const std::vector<FieldRole> roles{
      {"prompt", {"prompt", "question", "query", "instruction", "input", "context"}},
      {"answer", {"answer", "completion", "response", "output", "target"}}};
  return roles;
}

bool is_named(const FieldRole& role, std::string_view column) {
  return std::ranges::find(role.names, unnumbered_key(column)) != role.names.end();
}

Names parse_field_names(std::string_view names, FieldCount count, std::string_view what) {
  Names fields;
  for (std::string_view rest = names; !names.empty();) {
    const std::size_t end = rest.find(',');
    fields.emplace_back(rest.substr(0, end));
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  const bool has_empty = std::ranges::find(fields, "") != fields.end();
  const bool is_counted = fields.size() >= count.min && fields.size() <= count.max;
  check_as(ErrorKind::usage, names.empty() || (is_counted && !has_empty), what, ": expected ",
           count.min, count.min < count.max ? fmt::format(" or {}", count.max) : "",
           " names with a comma between them, found '", names, "'");
  for (auto field = fields.begin(); field != fields.end(); ++field) {
    check_as(ErrorKind::usage, std::find(field + 1, fields.end(), *field) == fields.end(), what,
             ": expected different names, found '", *field, "' twice");
  }
  return fields;
}

std::string describe(std::span<const std::string> columns, std::span<const FieldRole> roles) {
  std::string text;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    text.append(i > 0 ? ", " : "").append(columns[i]);
    text.append(i > 0 ? " the " : " is the ").append(roles[i].name);
  }
  return text;
}

Columns choose_columns(std::span<const Row> rows, std::span<const FieldRole> roles,
                       const RecordOptions& options, const TableFormat& format) {
  const Row& first = rows.front();
  const std::string where = format.file + ':' + std::to_string(first.line) + ": ";
  std::vector<FieldRole> named = roles_among(first.fields, roles, options);
  const bool has_header = is_header(rows, {named, options}, format);
  if (!has_header && options.fields.empty()) named = roles_that_must_be(roles);
  const Wanted wanted{named, options};
  const bool has_names = has_header && wanted.num_found(first.fields) == named.size();
  if (!has_names && are_numbers(options.fields)) {
    return columns_by_number(rows, wanted, has_header, where);
  }
  if (has_header) return columns_of_header(first.fields, wanted, where);
  if (!options.fields.empty()) return columns_by_number(rows, wanted, has_header, where);
  return columns_by_order(first.fields, named, format, where);
}

Names choose_members(const Names& members, std::span<const FieldRole> roles,
                     const RecordOptions& options, const std::string& where) {
  const std::vector<FieldRole> named = roles_among(members, roles, options);
  const Wanted wanted{named, options};
  Names chosen;
  for (std::size_t i = 0; i < named.size(); ++i) {
    const std::vector<std::size_t> places = wanted.places(i, members);
    check_as(ErrorKind::data, places.size() <= 1, where, ": expected one member for the ",
             named[i].name, ", found ", list_names(members), header_remedy(wanted, true));
    chosen.push_back(places.empty() ? wanted.name(i) : members[places.front()]);
  }
  check_as(ErrorKind::data, std::set(chosen.begin(), chosen.end()).size() == chosen.size(), where,
           ": expected different members for ", list_names(names_of(named)), ", found ",
           list_names(members), header_remedy(wanted, true));
  return chosen;
}

}  // namespace heed::data
