// An answer: status, headers and a body.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/index.h"

namespace heed::serve {

struct Response {
  int status = 200;
  std::string content_type = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
};

// Text that is no UTF-8 goes out with replacement characters. NaN and infinity become null.
Response json_response(const nlohmann::json& json, int status = 200);
Response json_response(const nlohmann::ordered_json& json, int status = 200);
// Little-endian floats; X-Heed-Shape says the sizes, with commas between.
Response binary_response(std::span<const float> values, std::span<const Index> shape);
Response text_response(int status, std::string line);
// {"error": "one clear line"}
Response error_response(int status, const std::string& line);

// Thrown by a handler for a resource that does not exist: answered with 404.
class NotFound : public Error {
 public:
  explicit NotFound(const std::string& line) : Error(ErrorKind::usage, line) {}
};

}  // namespace heed::serve
