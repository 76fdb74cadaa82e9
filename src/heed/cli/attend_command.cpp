#include "heed/cli/attend_command.h"

#include <algorithm>
#include <iostream>

#include "heed/base/error.h"
#include "heed/cli/attend_report.h"
#include "heed/cli/csv.h"
#include "heed/ops/attention.h"
#include "heed/ops/embedding.h"
#include "heed/ops/matmul.h"

namespace heed::cli {
namespace {

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

  const Spans spans = Spans::single(x.dim(0));
  ops::AttentionView view;
  const Tensor mixed =
      ops::attention({q, spans}, {k, spans}, v, mask_of(options, x.dim(0), in),
                     {.num_heads = options.heads, .similarity = similarity}, &view);
  return {sentence.names, view.scores[0], view.weights[0],
          through_matrix(mixed, options.output, "--output", in)};
}

int attend(const AttendOptions& options, std::istream& in, std::ostream& out) {
  check_as(ErrorKind::usage,
           !options.precision || (*options.precision >= 0 && *options.precision <= 20),
           "attend: --precision: expected 0 to 20, found ", options.precision.value_or(0));
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
  command.option("--heads", options->heads, "number of heads; must divide the coordinates");
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
      ->check(CLI::IsMember({"table", "json", "csv"}));
  command.option("--precision", options->precision,
                 "decimals (default: 2 in tables, all in json and csv)");
  command.run([options] { return attend(*options, std::cin, std::cout); });
  return command;
}

}  // namespace heed::cli
