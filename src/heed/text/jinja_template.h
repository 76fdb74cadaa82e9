// Templates in the part of Jinja2's language that chat templates use, rendered as `transformers`
// renders them: trim_blocks and lstrip_blocks are on, a value cannot be changed, and nothing
// outside of the given variables can be reached. docs/chat.md lists what is supported.
#pragma once

#include <cstddef>
#include <ctime>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace heed::text {

// A template may be hostile. One that needs more is refused.
struct JinjaLimits {
  std::size_t max_work = 20'000'000;               // steps; long texts and lists count as several
  std::size_t max_output = std::size_t{64} << 20;  // bytes
};

// Immutable. Copies share it.
class JinjaTemplate {
 public:
  // Refuses (ErrorKind::model) with the line number what is not supported. `name` stands for the
  // template in messages.
  static JinjaTemplate parse(std::string_view source, const std::string& name);

  // `variables` is an object of JSON values by name; `now` is the time that strftime_now shows.
  // Refuses (ErrorKind::data) what the template itself refuses by raise_exception, and
  // (ErrorKind::model) all else.
  std::string render(const nlohmann::ordered_json& variables, std::time_t now,
                     const JinjaLimits& limits = {}) const;

 private:
  struct Parts;
  explicit JinjaTemplate(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}

  std::shared_ptr<const Parts> parts_;
};

}  // namespace heed::text
