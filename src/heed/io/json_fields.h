// Reads a configuration from JSON, field by field, with a message that says what was wrong where:
//
//   const auto config = JsonFields::load(folder + "/config.json");
//   options.num_heads = config.integer("num_heads", {.min = 1});
//   options.dropout = config.number_or("dropout", 0.0, {.min = 0.0, .max = 1.0});
//
// throws Error(model) `config.json: num_heads: expected a positive integer, found "four"`.
// Fields that are not asked for are ignored. A null counts as absent.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"

namespace heed::io {

// The longest file of settings that is read.
inline constexpr std::uint64_t max_config_bytes = std::uint64_t{64} << 20;

struct IntegerRange {
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};

struct NumberRange {
  double min = std::numeric_limits<double>::lowest();
  double max = std::numeric_limits<double>::max();
};

// One JSON object. Copies share it.
class JsonFields {
 public:
  // `kind` is the kind of every error, of the file and of its fields.
  static JsonFields load(const std::string& path, ErrorKind kind = ErrorKind::model);
  static JsonFields parse(std::string_view text, const std::string& source,
                          ErrorKind kind = ErrorKind::model);
  // JSON that was parsed already.
  static JsonFields of(nlohmann::json object, const std::string& source,
                       ErrorKind kind = ErrorKind::model);

  bool has(const std::string& name) const;
  std::vector<std::string> names() const;  // of all fields that are not null, sorted
  // "config.json: training.step", for messages about what the functions below do not reach.
  std::string place(const std::string& name) const { return prefix_ + name; }

  std::int64_t integer(const std::string& name, IntegerRange range = {}) const;
  std::int64_t integer_or(const std::string& name, std::int64_t fallback,
                          IntegerRange range = {}) const;
  std::optional<std::int64_t> optional_integer(const std::string& name,
                                               IntegerRange range = {}) const;
  double number(const std::string& name, NumberRange range = {}) const;
  double number_or(const std::string& name, double fallback, NumberRange range = {}) const;
  bool boolean(const std::string& name) const;
  bool boolean_or(const std::string& name, bool fallback) const;
  std::string text(const std::string& name) const;
  std::string text_or(const std::string& name, std::string fallback) const;
  std::optional<std::string> optional_text(const std::string& name) const;
  // A text that is one of those allowed.
  std::string choice(const std::string& name,
                     std::initializer_list<std::string_view> allowed) const;
  std::string choice_or(const std::string& name, std::string fallback,
                        std::initializer_list<std::string_view> allowed) const;
  std::vector<std::int64_t> integers(const std::string& name, IntegerRange range = {}) const;
  std::vector<double> numbers(const std::string& name, NumberRange range = {}) const;
  std::vector<std::string> texts(const std::string& name) const;
  // A nested object; its fields are named `training.step` in messages.
  JsonFields object(const std::string& name) const;
  // A list of objects, whose fields are named `heads[0].scale`; none when the field is absent.
  std::vector<JsonFields> optional_objects(const std::string& name) const;

  // For what the functions above do not reach.
  const nlohmann::json& json() const { return *object_; }

 private:
  JsonFields(std::shared_ptr<const nlohmann::json> object, std::string prefix, ErrorKind kind);

  const nlohmann::json& field(const std::string& name) const;
  const nlohmann::json& list(const std::string& name) const;
  [[noreturn]] void refuse(const std::string& name, const std::string& expected,
                           const nlohmann::json& value) const;
  std::int64_t to_integer(const std::string& name, const nlohmann::json& value,
                          IntegerRange range) const;
  double to_number(const std::string& name, const nlohmann::json& value, NumberRange range) const;

  std::shared_ptr<const nlohmann::json> object_;
  std::string prefix_;  // "config.json: " or "config.json: training."
  ErrorKind kind_;
};

}  // namespace heed::io
