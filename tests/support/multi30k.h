// The training text of Multi30k, for tests that run where the data is.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "heed/text/lines.h"

namespace heed {

// English and German lines of HEED_DATA/multi30k; none where the variable or the folder is missing.
inline std::vector<std::string> multi30k_lines() {
  const char* folder = std::getenv("HEED_DATA");
  if (folder == nullptr) return {};
  const auto corpus = std::filesystem::path(folder) / "multi30k";
  if (!std::filesystem::exists(corpus)) return {};
  auto [lines, german] = text::read_parallel_lines(corpus / "train.en", corpus / "train.de");
  lines.insert(lines.end(), german.begin(), german.end());
  return lines;
}

}  // namespace heed
