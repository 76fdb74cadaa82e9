#include "heed/serve/response.h"

#include <bit>
#include <nlohmann/json.hpp>

namespace heed::serve {
namespace {

template <typename Json>
Response response_of(const Json& json, int status) {
  return {
      status, "application/json", {}, json.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

}  // namespace

Response json_response(const nlohmann::json& json, int status) { return response_of(json, status); }

Response json_response(const nlohmann::ordered_json& json, int status) {
  return response_of(json, status);
}

Response binary_response(std::span<const float> values, std::span<const Index> shape) {
  static_assert(std::endian::native == std::endian::little);
  std::string sizes;
  for (const Index size : shape)
    sizes.append(sizes.empty() ? "" : ",").append(std::to_string(size));
  return {200,
          "application/octet-stream",
          {{"X-Heed-Shape", sizes}},
          std::string(reinterpret_cast<const char*>(values.data()), values.size_bytes())};
}

Response text_response(int status, std::string line) {
  return {status, "text/plain; charset=utf-8", {}, std::move(line) + '\n'};
}

Response error_response(int status, const std::string& line) {
  return json_response(nlohmann::json{{"error", line}}, status);
}

}  // namespace heed::serve
