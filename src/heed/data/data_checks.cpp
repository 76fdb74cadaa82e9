#include "heed/data/data_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string_view>

#include "heed/base/utf8.h"

namespace heed::data {
namespace {

// Shares from which on something is said.
constexpr double max_equal = 0.05;
constexpr double max_repeated = 0.1;
constexpr double max_leaked = 0.01;
// Fewer may be chance.
constexpr std::size_t min_count = 10;

// Fewer lines do not show whether columns are swapped, fewer labels not whether they are labels.
constexpr std::size_t min_lines = 8;
constexpr std::size_t min_labels = 5;

// Fewer numbers may be the names of classes.
constexpr std::size_t min_numbers = 20;

using LabelCounts = std::map<std::string, std::size_t, std::less<>>;
using Hashes = std::vector<std::uint64_t>;

std::uint64_t hash_of(std::string_view text) { return std::hash<std::string_view>()(text); }

Hashes sorted_hashes(std::span<const std::string> lines) {
  Hashes hashes;
  hashes.reserve(lines.size());
  for (const std::string& line : lines) hashes.push_back(hash_of(line));
  std::ranges::sort(hashes);
  return hashes;
}

Hashes sorted_hashes(const text::ParallelLines& pairs) {
  Hashes hashes;
  hashes.reserve(pairs.source.size());
  std::string both;
  for (std::size_t i = 0; i < pairs.source.size(); ++i) {
    both.assign(pairs.source[i]).append(1, '\n').append(pairs.target[i]);
    hashes.push_back(hash_of(both));
  }
  std::ranges::sort(hashes);
  return hashes;
}

Hashes sorted_hashes(std::span<const LabelledLine> lines) {
  Hashes hashes;
  hashes.reserve(lines.size());
  std::string both;
  for (const LabelledLine& line : lines) {
    both = line.text;
    if (!line.second.empty()) both.append(1, '\n').append(line.second);
    hashes.push_back(hash_of(both));
  }
  std::ranges::sort(hashes);
  return hashes;
}

struct Share {
  std::size_t count = 0, all = 0;

  bool is_above(double share) const {
    return count >= min_count && static_cast<double>(count) > share * static_cast<double>(all);
  }
  // "12 of 300 (4.0 %)"
  std::string text() const {
    const double percent = 100 * static_cast<double>(count) / static_cast<double>(all);
    return fmt::format("{} of {} ({:.1f} %)", count, all, percent);
  }
};

// What the lines of all kinds of data are checked for.
void check_repetitions(const Hashes& training, const Hashes& validation, std::string_view what,
                       std::vector<std::string>& warnings) {
  Share repeated{0, training.size()}, leaked{0, validation.size()};
  for (std::size_t i = 1; i < training.size(); ++i)
    repeated.count += training[i] == training[i - 1];
  for (const std::uint64_t hash : validation) {
    leaked.count += std::ranges::binary_search(training, hash);
  }
  if (repeated.is_above(max_repeated)) {
    warnings.push_back(fmt::format("{} training {} repeat an earlier one", repeated.text(), what));
  }
  if (leaked.is_above(max_leaked)) {
    warnings.push_back(fmt::format(
        "{} validation {} are also in the training data, so validation scores will be too high",
        leaked.text(), what));
  }
}

void check_equal_sides(const text::ParallelLines& pairs, std::vector<std::string>& warnings) {
  Share equal{0, pairs.source.size()};
  for (std::size_t i = 0; i < pairs.source.size(); ++i) {
    equal.count += pairs.source[i] == pairs.target[i] && !text::is_blank(pairs.source[i]);
  }
  if (!equal.is_above(max_equal)) return;
  warnings.push_back(fmt::format("source and target are equal in {} pairs", equal.text()));
}

struct Script {
  char32_t first, last;
  const char* name;
};

// Blocks of letters, in order.
constexpr std::array scripts{
    Script{'A', 'Z', "Latin"},          Script{'a', 'z', "Latin"},
    Script{0xc0, 0x24f, "Latin"},       Script{0x370, 0x3ff, "Greek"},
    Script{0x400, 0x52f, "Cyrillic"},   Script{0x531, 0x58f, "Armenian"},
    Script{0x591, 0x5f4, "Hebrew"},     Script{0x620, 0x6ff, "Arabic"},
    Script{0x750, 0x77f, "Arabic"},     Script{0x900, 0x97f, "Devanagari"},
    Script{0x980, 0x9ff, "Bengali"},    Script{0xa00, 0xa7f, "Gurmukhi"},
    Script{0xa80, 0xaff, "Gujarati"},   Script{0xb80, 0xbff, "Tamil"},
    Script{0xc00, 0xc7f, "Telugu"},     Script{0xc80, 0xcff, "Kannada"},
    Script{0xd00, 0xd7f, "Malayalam"},  Script{0xd80, 0xdff, "Sinhala"},
    Script{0xe00, 0xe7f, "Thai"},       Script{0xe80, 0xeff, "Lao"},
    Script{0xf00, 0xfff, "Tibetan"},    Script{0x1000, 0x109f, "Burmese"},
    Script{0x10a0, 0x10ff, "Georgian"}, Script{0x1100, 0x11ff, "Hangul"},
    Script{0x1200, 0x139f, "Ethiopic"}, Script{0x1780, 0x17ff, "Khmer"},
    Script{0x1e00, 0x1eff, "Latin"},    Script{0x1f00, 0x1fff, "Greek"},
    Script{0x3041, 0x30ff, "kana"},     Script{0x3400, 0x4dbf, "Han"},
    Script{0x4e00, 0x9fff, "Han"},      Script{0xac00, 0xd7a3, "Hangul"},
};

// Of a text in UTF-8 without mistakes; moves `at` behind the character.
char32_t next_character(std::string_view text, std::size_t& at) {
  const std::size_t length = utf8_length(text[at]);
  const auto first = static_cast<unsigned char>(text[at]);
  char32_t c = length == 1 ? first : first & (0x7fu >> length);
  for (std::size_t i = 1; i < length && at + i < text.size(); ++i) {
    c = c << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3fu);
  }
  at += length;
  return c;
}

// The script of most letters; empty for a text without any.
std::string_view main_script(std::span<const std::string> lines) {
  constexpr std::size_t max_lines = 2000;
  std::map<std::string_view, std::size_t> counts;
  for (const std::string& line : lines.first(std::min(lines.size(), max_lines))) {
    for (std::size_t at = 0; at < line.size();) {
      const char32_t c = next_character(line, at);
      const auto script = std::ranges::lower_bound(scripts, c, {}, &Script::last);
      if (script != scripts.end() && script->first <= c) ++counts[script->name];
    }
  }
  const auto most =
      std::ranges::max_element(counts, {}, [](const auto& one) { return one.second; });
  return most == counts.end() ? std::string_view() : most->first;
}

void check_scripts(const text::ParallelLines& training, const text::ParallelLines& validation,
                   std::vector<std::string>& warnings) {
  const std::string_view source = main_script(training.source);
  const std::string_view target = main_script(training.target);
  if (source == target || source != main_script(validation.target) ||
      target != main_script(validation.source)) {
    return;
  }
  warnings.push_back(fmt::format(
      "training goes from {} to {} letters, the validation data from {} to {}: is one of them "
      "swapped?",
      source, target, target, source));
}

LabelCounts count_labels(std::span<const LabelledLine> lines, ProblemType problem) {
  LabelCounts counts;
  for (const LabelledLine& line : lines) {
    if (problem != ProblemType::multi_label) {
      ++counts[line.label];
      continue;
    }
    for (const std::string& label : split_labels(line.label)) ++counts[label];
  }
  return counts;
}

void check_for_numbers(const LabelCounts& counts, std::vector<std::string>& warnings) {
  const bool are_numbers = std::ranges::all_of(
      counts, [](const auto& one) { return label_number(one.first).has_value(); });
  if (!are_numbers || counts.size() < min_numbers) return;
  warnings.push_back(fmt::format(
      "all {} labels are numbers: if they are amounts, `problem_type` regression predicts them",
      counts.size()));
}

void check_for_rare_labels(const LabelCounts& counts, std::vector<std::string>& warnings) {
  const auto once = std::ranges::count_if(counts, [](const auto& one) { return one.second == 1; });
  const Share rare{static_cast<std::size_t>(once), counts.size()};
  if (2 * rare.count <= rare.all || counts.size() < min_labels) return;
  warnings.push_back(fmt::format(
      "{} labels occur once: is the label in another column? `fields` LABEL,TEXT says which",
      rare.text()));
}

}  // namespace

std::vector<std::string> check_pairs(const text::ParallelLines& training,
                                     const text::ParallelLines* validation) {
  std::vector<std::string> warnings;
  check_equal_sides(training, warnings);
  check_repetitions(sorted_hashes(training), validation ? sorted_hashes(*validation) : Hashes{},
                    "pairs", warnings);
  if (validation) check_scripts(training, *validation, warnings);
  return warnings;
}

std::vector<std::string> check_labelled(std::span<const LabelledLine> training,
                                        std::span<const LabelledLine> validation,
                                        ProblemType problem) {
  std::vector<std::string> warnings;
  if (problem != ProblemType::regression) {
    const LabelCounts counts = count_labels(training, problem);
    check_for_rare_labels(counts, warnings);
    if (problem == ProblemType::single_label) check_for_numbers(counts, warnings);
  }
  check_repetitions(sorted_hashes(training), sorted_hashes(validation), "lines", warnings);
  return warnings;
}

std::vector<std::string> check_lines(std::span<const std::string> training,
                                     std::span<const std::string> validation) {
  std::vector<std::string> warnings;
  check_repetitions(sorted_hashes(training), sorted_hashes(validation), "lines", warnings);
  return warnings;
}

bool are_columns_swapped(std::span<const LabelledLine> lines) {
  if (lines.size() < min_lines) return false;
  const std::size_t num_labels = count_labels(lines, ProblemType::single_label).size();
  Hashes texts = sorted_hashes(lines);
  const auto num_texts =
      static_cast<std::size_t>(std::unique(texts.begin(), texts.end()) - texts.begin());
  return 2 * num_labels > lines.size() && 4 * num_texts <= num_labels;
}

}  // namespace heed::data
