#pragma once

#include <span>
#include <string>

#include "heed/io/sha256.h"

namespace heed::train {

// Adds lines to a hash, and how many they are, so that two texts are not one.
inline void hash_lines(io::Sha256& hash, std::span<const std::string> lines) {
  hash.update(std::to_string(lines.size()) + '\n');
  for (const std::string& line : lines) hash.update(line + '\n');
}

}  // namespace heed::train
