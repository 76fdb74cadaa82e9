// A file of records before its columns are chosen: rows of cells, or JSON objects.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "heed/text/csv.h"

namespace heed::io {
class JsonFields;
}

namespace heed::data {

enum class RecordFormat { tsv, csv, jsonl };

struct RecordFile {
  std::string name;  // for messages
  RecordFormat format = RecordFormat::tsv;
  std::vector<std::string> lines;

  // The end of the name says the format; standard input ("-") has none, so its content does.
  // Refuses (ErrorKind::data) other names, and what text::read_lines does.
  static RecordFile read(const std::filesystem::path& path);

  bool has_columns() const { return format != RecordFormat::jsonl; }
  std::string place(std::size_t line) const;  // "moods.tsv:3: "
  // Of a file with columns. Empty lines are skipped; rows may differ in width.
  std::vector<text::CsvRow> rows() const;
  // Of a file without. Blank lines are skipped. Refuses (ErrorKind::data) what is no object.
  void for_each_object(
      const std::function<void(std::size_t line, const io::JsonFields& object)>& work) const;
};

// A field of an object as text: a string, or an integer by its digits.
std::string text_member(const io::JsonFields& object, const std::string& name);

}  // namespace heed::data
