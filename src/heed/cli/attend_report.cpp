#include "heed/cli/attend_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/text/csv.h"

namespace heed::cli {
namespace {

// One matrix: a head's similarity or weights, or the context.
struct Grid {
  const float* values;
  Index rows, cols;

  float at(Index row, Index col) const { return values[row * cols + col]; }
};

Grid head_of(const Tensor& heads, Index head) {
  const Index rows = heads.dim(1), cols = heads.dim(2);
  return {heads.data() + head * rows * cols, rows, cols};
}

Grid whole(const Tensor& matrix) { return {matrix.data(), matrix.dim(0), matrix.dim(1)}; }

// Without a minus sign before a zero, also before one that rounding made.
std::string number(float value, std::optional<int> precision) {
  const std::string text =
      precision ? fmt::format("{:.{}f}", value, *precision) : fmt::format("{}", value);
  const bool is_zero = text.find_first_not_of("-0.") == std::string::npos;
  return is_zero && text[0] == '-' ? text.substr(1) : text;
}

// Characters, so that names in any script line up.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return (byte & 0xc0) != 0x80; }));
}

std::string padding(std::size_t width, const std::string& text) {
  return std::string(width - std::min(width, width_of(text)), ' ');
}

void print_grid(std::ostream& out, const Grid& grid, const std::vector<std::string>& row_names,
                const std::vector<std::string>& col_names, int precision) {
  std::size_t name_width = 0;
  for (const std::string& name : row_names) name_width = std::max(name_width, width_of(name));
  std::vector<std::size_t> widths;
  for (Index col = 0; col < grid.cols; ++col) {
    widths.push_back(width_of(col_names[col]));
    for (Index row = 0; row < grid.rows; ++row) {
      widths.back() = std::max(widths.back(), number(grid.at(row, col), precision).size());
    }
  }
  out << std::string(name_width, ' ');
  for (Index col = 0; col < grid.cols; ++col) {
    out << "  " << padding(widths[col], col_names[col]) << col_names[col];
  }
  out << '\n';
  for (Index row = 0; row < grid.rows; ++row) {
    out << row_names[row] << padding(name_width, row_names[row]);
    for (Index col = 0; col < grid.cols; ++col) {
      const std::string text = number(grid.at(row, col), precision);
      out << "  " << padding(widths[col], text) << text;
    }
    out << '\n';
  }
}

std::string json_matrix(const Grid& grid, std::optional<int> precision) {
  std::string text = "[";
  for (Index row = 0; row < grid.rows; ++row) {
    text += row ? ",[" : "[";
    for (Index col = 0; col < grid.cols; ++col) {
      text += (col ? "," : "") + number(grid.at(row, col), precision);
    }
    text += ']';
  }
  return text + ']';
}

std::string json_heads(const Tensor& heads, std::optional<int> precision) {
  if (heads.dim(0) == 1) return json_matrix(head_of(heads, 0), precision);
  std::string text = "[";
  for (Index head = 0; head < heads.dim(0); ++head) {
    text += (head ? "," : "") + json_matrix(head_of(heads, head), precision);
  }
  return text + ']';
}

std::string json_names(const std::vector<std::string>& names) {
  std::string text = "[";
  for (const std::string& name : names) {
    text += (text.size() > 1 ? "," : "") + nlohmann::json(name).dump();
  }
  return text + ']';
}

std::vector<std::string> numbers_from_one(Index count) {
  std::vector<std::string> names;
  for (Index i = 1; i <= count; ++i) names.push_back(std::to_string(i));
  return names;
}

void print_csv_part(std::ostream& out, const std::string& part_and_head, const Grid& grid,
                    const std::vector<std::string>& words, const std::vector<std::string>& to,
                    std::optional<int> precision) {
  for (Index row = 0; row < grid.rows; ++row) {
    for (Index col = 0; col < grid.cols; ++col) {
      out << part_and_head << ',' << text::csv_field(words[row]) << ',' << text::csv_field(to[col])
          << ',' << number(grid.at(row, col), precision) << '\n';
    }
  }
}

}  // namespace

void print_table(std::ostream& out, const Attended& attended, std::string_view similarity_name,
                 int precision) {
  const Index heads = attended.similarity.dim(0);
  for (Index head = 0; head < heads; ++head) {
    const std::string of_head = heads == 1 ? "" : fmt::format(", head {}", head + 1);
    out << "similarity (" << similarity_name << ")" << of_head << '\n';
    print_grid(out, head_of(attended.similarity, head), attended.words, attended.words, precision);
    out << "\nweights" << of_head << '\n';
    print_grid(out, head_of(attended.weights, head), attended.words, attended.words, precision);
    out << '\n';
  }
  out << "context (the words, moved)\n";
  print_grid(out, whole(attended.context), attended.words,
             numbers_from_one(attended.context.dim(1)), precision);
}

void print_json(std::ostream& out, const Attended& attended, std::optional<int> precision) {
  out << "{\"words\":" << json_names(attended.words)
      << ",\"similarity\":" << json_heads(attended.similarity, precision)
      << ",\"weights\":" << json_heads(attended.weights, precision)
      << ",\"context\":" << json_matrix(whole(attended.context), precision) << "}\n";
}

void print_csv(std::ostream& out, const Attended& attended, std::optional<int> precision) {
  out << "part,head,word,to,value\n";
  for (const auto& [part, heads] :
       {std::pair{"similarity", attended.similarity}, std::pair{"weights", attended.weights}}) {
    for (Index head = 0; head < heads.dim(0); ++head) {
      print_csv_part(out, fmt::format("{},{}", part, head + 1), head_of(heads, head),
                     attended.words, attended.words, precision);
    }
  }
  print_csv_part(out, "context,", whole(attended.context), attended.words,
                 numbers_from_one(attended.context.dim(1)), precision);
}

}  // namespace heed::cli
