#include "heed/cli/attend_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <optional>

#include "heed/base/error.h"
#include "heed/cli/attend_report.h"
#include "heed/cli/csv.h"
#include "heed/models/finite_weights.h"
#include "heed/ops/attention.h"
#include "heed/ops/embedding.h"
#include "heed/ops/matmul.h"

namespace heed::cli {
namespace {

constexpr int max_precision = 20;

// The row of a word in the file.
Index row_of(const NamedVectors& all, const std::string& word, const std::string& file) {
  const auto position = std::find(all.names.begin(), all.names.end(), word);
  check_as(ErrorKind::usage, position != all.names.end(), "attend: --only: expected words of ",
           file, ", found '", word, "'");
  check_as(ErrorKind::data, std::find(position + 1, all.names.end(), word) == all.names.end(),
           "attend: ", file, ": expected one line for '", word, "', found several");
  return position - all.names.begin();
}

NamedVectors read_sentence(const AttendOptions& options, std::istream& in) {
  NamedVectors all = read_named_vectors(options.words, in);
  if (options.only.empty()) return all;
  std::vector<Index> rows;
  for (const std::string& word : options.only) rows.push_back(row_of(all, word, options.words));
  return {options.only, ops::gather_rows(all.vectors, rows)};
}

// x times the matrix in the file, which has a row for each column of x; x itself without a file.
Tensor through_matrix(const Tensor& x, const std::string& file, const char* option,
                      std::istream& in) {
  if (file.empty()) return x;
  const Tensor matrix = read_matrix(file, in);
  check_as(ErrorKind::data, matrix.dim(0) == x.dim(1), "attend: ", option, ": ", file,
           ": expected ", x.dim(1), " rows, one for each coordinate, found ", matrix.dim(0));
  return ops::matmul(x, matrix);
}

// The mask in a file of 0 and 1.
ops::AttentionMask read_mask(const std::string& file, Index words, std::istream& in) {
  const Tensor cells = read_matrix(file, in);
  check_as(ErrorKind::data, cells.shape() == Shape{words, words}, "attend: --mask: ", file,
           ": expected ", words, " rows and columns, one for each word, found ", cells.shape());
  std::vector<bool> may_see;
  for (const float cell : cells.values()) {
    check_as(ErrorKind::data, cell == 0 || cell == 1, "attend: --mask: ", file,
             ": expected 0 (hidden) or 1 (seen), found ", cell);
    may_see.push_back(cell == 1);
  }
  return ops::AttentionMask::of_cells(may_see, words);
}

ops::AttentionMask mask_of(const AttendOptions& options, Index words, std::istream& in) {
  if (options.mask.empty()) return ops::AttentionMask::none();
  if (options.mask == "causal") return ops::AttentionMask::causal_mask();
  return read_mask(options.mask, words, in);
}

void check_heads(Index heads, Index width, const char* what) {
  check_as(ErrorKind::usage, heads >= 1 && width % heads == 0,
           "attend: --heads: expected a number that divides the ", width, " coordinates of the ",
           what, ", found ", heads);
}

// Every head has a weight for each pair of words.
void check_num_words(Index words, const AttendOptions& options) {
  constexpr Index max_weights = Index{1} << 24;
  Index most = 1;
  while ((most + 1) * (most + 1) * options.heads <= max_weights) ++most;
  check_as(ErrorKind::data, words <= most, "attend: ", options.words, ": expected at most ", most,
           " words for ", options.heads, options.heads == 1 ? " head" : " heads", ", found ",
           words);
}

// The words and the number that is NaN or infinite, in [..., N, columns].
std::string first_not_finite(const Tensor& x, const std::vector<std::string>& words,
                             const std::vector<std::string>& columns) {
  const std::optional<Index> place = models::first_not_finite(x.values());
  if (!place) return "";
  const Index width = x.dim(-1);
  std::string names = '\'' + words[*place / width % x.dim(-2)] + '\'';
  if (!columns.empty()) names += " and '" + columns[*place % width] + '\'';
  return fmt::format("{}, found {}", names, x.values()[*place]);
}

// Numbers that are too large for a float have no place in a softmax, nor in JSON.
void check_finite(const Attended& attended, const AttendOptions& options) {
  const auto check_part = [&](const char* part, const std::string& mistake) {
    check_as(ErrorKind::data, mistake.empty(), "attend: ", options.words, ": expected a finite ",
             part, " of ", mistake, " (smaller coordinates have one)");
  };
  const std::vector<std::string>& words = attended.words;
  check_part("similarity", first_not_finite(attended.similarity, words, words));
  check_part("weight", first_not_finite(attended.weights, words, words));
  check_part("context", first_not_finite(attended.context, words, {}));
}

Tensor times(const Tensor& x, float factor) {
  Tensor y = Tensor::empty(x.shape());
  std::ranges::transform(x.values(), y.data(), [=](float value) { return value * factor; });
  return y;
}

// A power of two that leaves room for the sum over all words, which attention divides at its end.
float scale_of(const Tensor& values) {
  constexpr float huge = 1e30f;
  const bool is_huge =
      std::ranges::any_of(values.values(), [](float v) { return std::abs(v) > huge; });
  return is_huge ? 0x1p-64f : 1;
}

// Standard input can be read once.
void check_one_standard_input(const AttendOptions& options) {
  const auto count = std::ranges::count(std::vector{options.words, options.query, options.key,
                                                    options.value, options.output, options.mask},
                                        "-");
  check_as(ErrorKind::usage, count <= 1, "attend: expected at most one file to be -, found ",
           count);
}

}  // namespace

Attended attend_to_words(const AttendOptions& options, std::istream& in) {
  check_one_standard_input(options);
  const auto similarity = parse_choice<ops::Similarity>(options.similarity, "attend: --similarity");
  const NamedVectors sentence = read_sentence(options, in);
  const Tensor& x = sentence.vectors;  // [N, D]
  const Tensor q = through_matrix(x, options.query, "--query", in);
  const Tensor k = through_matrix(x, options.key, "--key", in);
  const Tensor v = through_matrix(x, options.value, "--value", in);
  check_as(ErrorKind::data, q.dim(1) == k.dim(1),
           "attend: expected queries and keys with as many coordinates, found ", q.dim(1), " and ",
           k.dim(1));
  check_heads(options.heads, q.dim(1), "queries");
  check_heads(options.heads, v.dim(1), "values");
  check_num_words(x.dim(0), options);

  const Spans spans = Spans::single(x.dim(0));
  ops::AttentionView view;
  const float scale = scale_of(v);
  const Tensor mixed =
      ops::attention({q, spans}, {k, spans}, times(v, scale), mask_of(options, x.dim(0), in),
                     {.num_heads = options.heads, .similarity = similarity}, &view);
  Attended attended{sentence.names, view.scores[0], view.weights[0],
                    through_matrix(times(mixed, 1 / scale), options.output, "--output", in)};
  check_finite(attended, options);
  return attended;
}

int attend(const AttendOptions& options, std::istream& in, std::ostream& out) {
  check_as(ErrorKind::usage,
           !options.precision || (*options.precision >= 0 && *options.precision <= max_precision),
           "attend: --precision: expected a whole number from 0 to ", max_precision, ", found ",
           options.precision.value_or(0));
  const Attended attended = attend_to_words(options, in);
  if (options.format == "table") {
    print_table(out, attended, options.similarity, options.precision.value_or(2));
  } else if (options.format == "json") {
    print_json(out, attended, options.precision);
  } else if (options.format == "csv") {
    print_csv(out, attended, options.precision);
  } else {
    fail(ErrorKind::usage, "attend: --format: expected table, json or csv, found '", options.format,
         "'");
  }
  return 0;
}

Command attend_command() {
  auto options = std::make_shared<AttendOptions>();
  Command command("attend",
                  "Attention by hand: similarity, weights and context of named vectors.\n"
                  "Shows how alike words are, how much each looks at the others, and where it "
                  "moves.",
                  "heed attend words.csv --similarity cosine --only bat,cave");
  command
      .option("words", options->words,
              "CSV file with a name and coordinates on each line; - is standard input")
      ->required();
  command.group(option_group::input);
  command
      .option("--only", options->only,
              "the sentence: these words of the file in this order, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.group("Attention");
  command
      .option("--similarity", options->similarity,
              "of queries and keys: " + choice_names<ops::Similarity>())
      ->check(is_choice<ops::Similarity>());
  command.option("--mask", options->mask,
                 "causal: no word sees a later one; or a CSV file of 0 and 1, where 1 in row i, "
                 "column j lets word i see word j");
  command.number("--heads", options->heads, {1, 1000},
                 "number of heads; must divide the coordinates");
  const auto add_matrix = [&](const char* name, std::string& file, const char* what) {
    command.option(name, file, std::string(what) + ": CSV matrix (default: the identity)")
        ->type_name("FILE");
  };
  add_matrix("--query", options->query, "query projection");
  add_matrix("--key", options->key, "key projection");
  add_matrix("--value", options->value, "value projection");
  add_matrix("--output", options->output, "output projection, which mixes the heads");
  command.group(option_group::output);
  command.option("--format", options->format, "table, json or csv")
      ->check(is_one_of({"table", "json", "csv"}));
  command.number("--precision", options->precision, {0, max_precision},
                 "decimals (default: 2 in tables, all in json and csv)");
  command.run([options] { return attend(*options, std::cin, std::cout); });
  return command;
}

}  // namespace heed::cli
