#include "heed/data/tagged_lines.h"

#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "heed/base/cancellation.h"
#include "heed/base/error.h"
#include "heed/base/printable.h"
#include "heed/io/json_fields.h"
#include "heed/text/encode_words.h"
#include "heed/text/label.h"
#include "heed/text/lines.h"

namespace heed::data {
namespace {

constexpr std::string_view document_start = "-DOCSTART-";

std::string place(const std::string& file, Index number) {
  return file + ':' + std::to_string(number);
}

// Rows of columns, and the sentences that they make.
class RowReader {
 public:
  explicit RowReader(std::string file) : file_(std::move(file)) {}

  void add(const std::string& line, Index number) {
    const std::vector<std::string> columns = text::split_words(line);
    if (columns.empty() || columns.front() == document_start) return finish_sentence();
    check_columns(columns.size(), number);
    text::check_label(columns.back(), place(file_, number), ErrorKind::data);
    sentence_.words.push_back(columns.front());
    sentence_.tags.push_back(columns.back());
    sentence_.numbers.push_back(number);
  }

  std::vector<TaggedLine> take() {
    finish_sentence();
    return std::move(sentences_);
  }

 private:
  void check_columns(std::size_t count, Index number) {
    check_as(ErrorKind::data, count >= 2, place(file_, number),
             ": expected a word and its tag, found 1 column");
    if (num_columns_ == 0) {
      num_columns_ = count;
      first_number_ = number;
    }
    check_as(ErrorKind::data, count == num_columns_, place(file_, number), ": expected ",
             num_columns_, " columns, as in line ", first_number_, ", found ", count);
  }

  void finish_sentence() {
    if (!sentence_.words.empty()) sentences_.push_back(std::exchange(sentence_, {}));
  }

  std::string file_;
  std::size_t num_columns_ = 0;
  Index first_number_ = 0;  // of the line with the first columns
  TaggedLine sentence_;
  std::vector<TaggedLine> sentences_;
};

std::vector<TaggedLine> parse_rows(const std::vector<std::string>& lines, const std::string& file) {
  RowReader reader(file);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    check_cancelled(i);
    reader.add(lines[i], static_cast<Index>(i) + 1);
  }
  return reader.take();
}

void check_one_word(const std::string& text, const char* what, const std::string& where) {
  const bool is_one = text::split_words(text) == std::vector{text};
  check_as(ErrorKind::data, is_one, where, ": expected ", what, " without white space, found \"",
           excerpt(text), '"');
}

TaggedLine parse_object(const std::string& line, const std::string& file, Index number) {
  const std::string where = place(file, number);
  const auto object = io::JsonFields::parse(line, where, ErrorKind::data);
  TaggedLine tagged{.words = object.texts("tokens"),
                    .tags = object.texts(object.has("tags") ? "tags" : "ner_tags"),
                    .numbers = {}};
  check_as(ErrorKind::data, tagged.words.size() == tagged.tags.size(), where,
           ": expected a tag for each of ", tagged.words.size(), " tokens, found ",
           tagged.tags.size());
  for (const std::string& word : tagged.words) check_one_word(word, "a word", where);
  for (const std::string& tag : tagged.tags) {
    check_one_word(tag, "a tag", where);
    text::check_label(tag, where, ErrorKind::data);
  }
  tagged.numbers.assign(tagged.words.size(), number);
  return tagged;
}

std::vector<TaggedLine> parse_objects(const std::vector<std::string>& lines,
                                      const std::string& file) {
  std::vector<TaggedLine> sentences;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    check_cancelled(i);
    if (text::is_blank(lines[i])) continue;
    TaggedLine sentence = parse_object(lines[i], file, static_cast<Index>(i) + 1);
    if (!sentence.words.empty()) sentences.push_back(std::move(sentence));
  }
  return sentences;
}

bool has_objects(std::filesystem::path path, const std::vector<std::string>& lines) {
  if (path == text::standard_input) {
    return !lines.empty() && text::trim(lines.front()).starts_with("{\"");
  }
  if (path.extension() == ".gz" || path.extension() == ".zst") path = path.stem();
  return path.extension() == ".jsonl";
}

}  // namespace

std::vector<TaggedLine> read_tagged_lines(const std::filesystem::path& path) {
  const std::vector<std::string> lines = text::read_lines(path);
  const std::string file = path == text::standard_input ? "standard input" : path.string();
  std::vector<TaggedLine> sentences =
      has_objects(path, lines) ? parse_objects(lines, file) : parse_rows(lines, file);
  check_as(ErrorKind::data, !sentences.empty(), file, ": expected words with tags, found none");
  return sentences;
}

std::vector<std::string> distinct_tags(std::span<const TaggedLine> lines) {
  std::set<std::string> tags;
  for (const TaggedLine& line : lines) tags.insert(line.tags.begin(), line.tags.end());
  return {tags.begin(), tags.end()};
}

std::vector<std::vector<int>> tag_numbers(std::span<const TaggedLine> lines,
                                          std::span<const std::string> tags,
                                          const std::string& file) {
  std::map<std::string_view, int> number_of;
  for (const std::string& tag : tags) number_of.emplace(tag, static_cast<int>(number_of.size()));
  std::vector<std::vector<int>> numbers(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (std::size_t word = 0; word < lines[i].tags.size(); ++word) {
      const std::string& tag = lines[i].tags[word];
      const auto entry = number_of.find(tag);
      check_as(ErrorKind::data, entry != number_of.end(), place(file, lines[i].numbers[word]),
               ": expected one of the ", tags.size(), " tags of the model, found ", excerpt(tag));
      numbers[i].push_back(entry->second);
    }
  }
  return numbers;
}

std::vector<std::string> texts_of(std::span<const TaggedLine> lines) {
  std::vector<std::string> texts;
  for (const TaggedLine& line : lines) texts.push_back(text::join_words(line.words));
  return texts;
}

}  // namespace heed::data
