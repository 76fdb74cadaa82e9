#include "heed/cli/text_pair_lines.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/io/strict_json.h"

namespace heed::cli {
namespace {

void add_tabbed(TextPairLines& pairs, const std::string& line, const std::string& where) {
  const auto num_texts = std::ranges::count(line, '\t') + 1;
  check_as(ErrorKind::data, num_texts == 2, where,
           ": expected two texts with a tab between them, found ", num_texts);
  const std::size_t tab = line.find('\t');
  pairs.first.push_back(line.substr(0, tab));
  pairs.second.push_back(line.substr(tab + 1));
}

void add_json(TextPairLines& pairs, const std::string& line, const std::string& where) {
  const nlohmann::json value = io::parse_strict_json(line, where, /*max_depth=*/2, ErrorKind::data);
  const bool is_pair =
      value.is_array() && value.size() == 2 && value[0].is_string() && value[1].is_string();
  check_as(ErrorKind::data, is_pair, where, ": expected a JSON array of two strings, found ",
           value.is_array() ? "another array" : value.type_name());
  pairs.first.push_back(value[0].get<std::string>());
  pairs.second.push_back(value[1].get<std::string>());
}

}  // namespace

TextPairLines parse_text_pairs(std::span<const std::string> lines, LineFormat format,
                               Index first_line) {
  TextPairLines pairs;
  for (const std::string& line : lines) {
    const std::string where = "line " + std::to_string(first_line++);
    (format == LineFormat::json ? add_json : add_tabbed)(pairs, line, where);
  }
  return pairs;
}

}  // namespace heed::cli
