#include "heed/io/strict_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

namespace heed::io {
namespace {

using nlohmann::json;

// Checks during parsing: no key twice in one object, no nesting beyond the limit.
class Strictness {
 public:
  Strictness(const std::string& source, int max_depth, ErrorKind kind)
      : source_(source), max_depth_(max_depth), kind_(kind) {}

  bool operator()(int depth, json::parse_event_t event, json& value) {
    using Event = json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) open(depth);
    if (event == Event::object_end || event == Event::array_end) keys_.pop_back();
    if (event == Event::key) add(value.get_ref<const std::string&>());
    return true;
  }

 private:
  void open(int depth) {
    check_as(kind_, depth < max_depth_, source_, ": expected at most ", max_depth_,
             " levels of JSON, found more");
    keys_.emplace_back();
  }

  void add(const std::string& key) {
    check_as(kind_, keys_.back().insert(key).second, source_, ": expected each key once, found \"",
             key, "\" twice");
  }

  const std::string& source_;
  int max_depth_;
  ErrorKind kind_;
  std::vector<std::set<std::string>> keys_;  // one set for each open object or array
};

}  // namespace

json parse_strict_json(std::string_view text, const std::string& source, int max_depth,
                       ErrorKind kind) {
  try {
    Strictness strictness(source, max_depth, kind);
    return json::parse(text, [&](int depth, json::parse_event_t event, json& value) {
      return strictness(depth, event, value);
    });
  } catch (const json::parse_error& error) {
    const auto line = 1 + std::ranges::count(text.substr(0, error.byte), '\n');
    const bool has_lines = text.find('\n') != std::string_view::npos;
    fail(kind, source, ": expected JSON, found a mistake ",
         has_lines ? "in line " + std::to_string(line) + ", byte " : "at byte ", error.byte);
  } catch (const json::exception&) {  // a number beyond double
    fail(kind, source, ": expected JSON, found a number that is too large");
  }
}

}  // namespace heed::io
