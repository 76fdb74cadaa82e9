// Test sets for contrastive evaluation: a source, its right translation, and wrong ones, as in
// LingEval97 (Sennrich 2017) and ContraPro (Müller and others 2018).
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "heed/data/record_columns.h"

namespace heed::data {

struct ContrastiveItem {
  std::size_t line = 0;  // of its start in the file, counted from 1
  std::string source = {};
  std::string target = {};                    // the reference
  std::vector<std::string> contrastive = {};  // wrong translations, at least one
  std::string group = {};                     // accuracy is also reported by group; empty: of none
};

// From a file that read_records could read; `options` choose the columns of source and target.
//
//   .tsv, .csv  With a header, every column `contrastive` (contrastive_1, contrastive_2 ...) holds
//               wrong translations, and `group` the group. Without one, the first two columns are
//               source and target, and all others are wrong translations. Empty cells are skipped,
//               and rows may be shorter than the first.
//   .jsonl      `contrastive` is a text or a list of them, `group` a text or an integer.
//
// Refuses (ErrorKind::data), with file and line, what read_records does, and items without a wrong
// translation.
std::vector<ContrastiveItem> read_contrastive_items(const std::filesystem::path& path,
                                                    const RecordOptions& options = {});

}  // namespace heed::data
