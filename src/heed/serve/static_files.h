// Files embedded in the program. No folder is ever read.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "heed/serve/request.h"
#include "heed/serve/response.h"

namespace heed::serve {

struct StaticFile {
  std::string_view path;  // /index.html
  std::string_view gzip;  // its bytes, compressed
};

class StaticFiles {
 public:
  StaticFiles() = default;
  // The bytes must outlive this.
  explicit StaticFiles(std::vector<StaticFile> files) : files_(std::move(files)) {}

  bool is_empty() const { return files_.empty(); }

  // The file of exactly this path, / being /index.html; compressed, if the client takes that. None:
  // it is not a file's path, or the method is not GET.
  std::optional<Response> find(const Request& request) const;

 private:
  std::vector<StaticFile> files_;
};

}  // namespace heed::serve
