#include "heed/data/record_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "heed/base/cancellation.h"
#include "heed/base/error.h"
#include "heed/io/json_fields.h"
#include "heed/text/lines.h"

namespace heed::data {
namespace {

std::vector<std::string> split(std::string_view line, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = line.find(separator);
    parts.emplace_back(line.substr(0, end));
    if (end == std::string_view::npos) return parts;
    line.remove_prefix(end + 1);
  }
}

std::vector<text::CsvRow> split_tsv(const std::vector<std::string>& lines) {
  std::vector<text::CsvRow> rows;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    check_cancelled(i);
    if (!lines[i].empty()) rows.push_back({i + 1, split(lines[i], '\t')});
  }
  return rows;
}

RecordFormat format_of(std::filesystem::path path) {
  const std::string name = path.string();
  if (path.extension() == ".gz" || path.extension() == ".zst") path = path.stem();
  const std::string extension = path.extension().string();
  if (extension == ".tsv") return RecordFormat::tsv;
  if (extension == ".csv") return RecordFormat::csv;
  check_as(ErrorKind::data, extension == ".jsonl", name,
           ": expected a name that ends in .tsv, .csv or .jsonl, found ",
           extension.empty() ? "none of them" : "'" + extension + "'");
  return RecordFormat::jsonl;
}

RecordFormat format_of_content(const std::vector<std::string>& lines) {
  const auto first =
      std::ranges::find_if(lines, [](const std::string& line) { return !text::is_blank(line); });
  if (first == lines.end()) return RecordFormat::tsv;
  if (text::trim(*first).starts_with('{')) return RecordFormat::jsonl;
  return first->find('\t') == std::string::npos ? RecordFormat::csv : RecordFormat::tsv;
}

}  // namespace

RecordFile RecordFile::read(const std::filesystem::path& path) {
  RecordFile file;
  if (path == text::standard_input) {
    file.name = "standard input";
    file.lines = text::read_lines(path);
    file.format = format_of_content(file.lines);
  } else {
    file.name = path.string();
    file.format = format_of(path);
    file.lines = text::read_lines(path);
  }
  return file;
}

std::string RecordFile::place(std::size_t line) const {
  return name + ':' + std::to_string(line) + ": ";
}

std::vector<text::CsvRow> RecordFile::rows() const {
  return format == RecordFormat::tsv ? split_tsv(lines) : text::parse_csv(lines, name);
}

void RecordFile::for_each_object(
    const std::function<void(std::size_t line, const io::JsonFields& object)>& work) const {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    check_cancelled(i);
    if (lines[i].find_first_not_of(" \t") == std::string::npos) continue;
    const std::string where = name + ':' + std::to_string(i + 1);
    work(i + 1, io::JsonFields::parse(lines[i], where, ErrorKind::data));
  }
}

std::string text_member(const io::JsonFields& object, const std::string& name) {
  if (object.has(name) && object.json()[name].is_number_integer())
    return object.json()[name].dump();
  return object.text(name);
}

}  // namespace heed::data
