// A parsed request, as handlers see it: no socket, no parser.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "heed/base/index.h"

namespace heed::serve {

struct Request {
  std::string method = "GET";
  std::string path = "/";                           // decoded, without the query
  std::map<std::string, std::string> query = {};    // decoded
  std::map<std::string, std::string> headers = {};  // names in lower case
  std::string body = {};
  std::map<std::string, std::string> path_parameters = {};  // {id} of the route's pattern

  std::optional<std::string> header(const std::string& lower_case_name) const;

  // These throw Error(usage) with a line that names the value and what was found.
  const std::string& path_parameter(const std::string& name) const;
  Index path_index(const std::string& name) const;  // 0 or more
  const std::string& query_value(const std::string& name) const;
  Index query_index(const std::string& name) const;
  Index query_index_or(const std::string& name, Index fallback) const;

  // The body, which must be one JSON object of not too many values; Error(data) otherwise.
  nlohmann::json json() const;
};

}  // namespace heed::serve
