// Lines of words, each word with its tag: parts of speech, named entities.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "heed/base/index.h"

namespace heed::data {

// One sentence.
struct TaggedLine {
  std::vector<std::string> words;  // without white space inside
  std::vector<std::string> tags;   // of each word
  std::vector<Index> numbers;      // the line of each word in its file, from 1
};

// Reads a file whose name ends in .jsonl (or .jsonl.gz, .jsonl.zst) as one JSON object for each
// sentence, with the lists of strings "tokens" and "tags" or "ner_tags". Any other file has one
// word a line and a blank line between two sentences (CoNLL): columns between tabs or spaces, the
// word in the first one, its tag in the last; lines that begin with -DOCSTART- are skipped. So does
// standard input ("-"), unless it begins with an object.
// Refuses (ErrorKind::data), with file and line: text that is not UTF-8, a word without a tag, rows
// with more or fewer columns than the first, words and tags that are empty or hold white space,
// tags that text::check_label refuses, and files without any word.
std::vector<TaggedLine> read_tagged_lines(const std::filesystem::path& path);

// Every tag once, in the order of the alphabet.
std::vector<std::string> distinct_tags(std::span<const TaggedLine> lines);

// For each line, the numbers of its words' tags among `tags`. Refuses (ErrorKind::data) a word with
// another tag, by its line and `file`.
std::vector<std::vector<int>> tag_numbers(std::span<const TaggedLine> lines,
                                          std::span<const std::string> tags,
                                          const std::string& file);

// The words of each line with a space between each two.
std::vector<std::string> texts_of(std::span<const TaggedLine> lines);

}  // namespace heed::data
