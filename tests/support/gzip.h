// Text compressed as the program gzip does it.
#pragma once

#include <zlib.h>

#include <string>
#include <string_view>

#include "heed/io/files.h"
#include "support/temporary_folder.h"

namespace heed {

inline std::string gzip(std::string_view text) {
  const TemporaryFolder folder;
  const gzFile file = gzopen(folder.file("gz").c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  return io::read_file(folder.file("gz"));
}

}  // namespace heed
