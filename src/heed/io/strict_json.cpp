#include "heed/io/strict_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "heed/base/printable.h"

namespace heed::io {
namespace {

using nlohmann::json;

// Builds the document from the parser's events. nlohmann's own parser with a callback looks at all
// members of an object again after each of them, which takes minutes for a header of megabytes.
class StrictBuilder : public nlohmann::json_sax<json> {
 public:
  StrictBuilder(std::string_view text, const std::string& source, int max_depth, ErrorKind kind)
      : text_(text), source_(source), max_depth_(max_depth), kind_(kind) {}

  json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& value) override { return add(std::move(value)); }  // never in a text

  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    const auto [member, is_new] = open_.back()->emplace(name, nullptr);
    check_as(kind_, is_new, source_, ": expected each key once, found \"", excerpt(name),
             "\" twice");
    member_ = &*member;
    return true;
  }

  bool parse_error(std::size_t byte, const std::string&, const json::exception& error) override {
    constexpr int number_overflow = 406;
    check_as(kind_, error.id != number_overflow, source_,
             ": expected JSON, found a number that is too large");
    refuse(byte);
  }

  // The text has a mistake at this byte, counted from 1.
  [[noreturn]] void refuse(std::size_t byte) const {
    const auto line = 1 + std::ranges::count(text_.substr(0, byte), '\n');
    const bool has_lines = text_.find('\n') != std::string_view::npos;
    fail(kind_, source_, ": expected JSON, found a mistake ",
         has_lines ? "in line " + std::to_string(line) + ", byte " : "at byte ", byte);
  }

 private:
  json& place(json value) {
    if (open_.empty()) return root_ = std::move(value);
    json& parent = *open_.back();
    if (parent.is_object()) return *member_ = std::move(value);
    parent.push_back(std::move(value));
    return parent.back();
  }

  bool add(json value) {
    place(std::move(value));
    return true;
  }

  bool open(json empty) {
    check_as(kind_, std::ssize(open_) < max_depth_, source_, ": expected at most ", max_depth_,
             " levels of JSON, found more");
    open_.push_back(&place(std::move(empty)));
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  const std::string& source_;
  int max_depth_;
  ErrorKind kind_;
  json root_;
  std::vector<json*> open_;  // objects and arrays around the next value, from the outermost
  json* member_ = nullptr;   // of the innermost object: the value of the last key
};

}  // namespace

json parse_strict_json(std::string_view text, const std::string& source, int max_depth,
                       ErrorKind kind) {
  StrictBuilder builder(text, source, max_depth, kind);
  // The parser takes a zero byte for the end of the text, and would not see what follows it.
  const std::size_t zero = text.find('\0');
  if (zero != std::string_view::npos) builder.refuse(zero + 1);
  json::sax_parse(text, &builder);
  return builder.take();
}

}  // namespace heed::io
