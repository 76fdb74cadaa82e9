// Any bytes as a chat template, after the number of the chat that it renders. What it writes is
// UTF-8, and the same the second time.
#include <nlohmann/json.hpp>

#include "harness.h"
#include "heed/base/utf8.h"
#include "heed/text/jinja_template.h"

using namespace heed;

namespace {

using nlohmann::ordered_json;

constexpr text::JinjaLimits limits{.max_work = 200'000, .max_output = std::size_t{1} << 20};

ordered_json chat(unsigned char number) {
  ordered_json messages = ordered_json::parse(R"([
    {"role": "system", "content": " Be brief. "},
    {"role": "user", "content": "q\u00fc\ud83d\ude00\n1"},
    {"role": "assistant", "content": null,
     "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": {"a": [1, 2.5, "x"]}}}]},
    {"role": "tool", "content": "{}"},
    {"role": "assistant", "content": "<think>h</think>a"}])");
  ordered_json variables{{"messages", ordered_json::array()}, {"tools", nullptr}};
  for (unsigned i = 0; i < number % 6u; ++i) variables["messages"].push_back(messages[i]);
  if (number % 2 == 1) {
    variables["tools"] =
        ordered_json::parse(R"([{"type": "function", "function": {"name": "f"}}])");
  }
  variables["add_generation_prompt"] = number % 4 > 1;
  variables["bos_token"] = "<s>";
  variables["eos_token"] = "</s>";
  return variables;
}

std::string render(const text::JinjaTemplate& jinja, const ordered_json& variables) {
  try {
    return jinja.render(variables, 0, limits);
  } catch (const Error& error) {
    const bool is_known = error.kind() == ErrorKind::model || error.kind() == ErrorKind::data;
    fuzz::require(is_known, "errors of a template or of its messages");
    return error.what();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::test(ErrorKind::model, data, size, [](std::string_view input) {
    const auto [number, source] = fuzz::split_choice(input);
    const auto jinja = text::JinjaTemplate::parse(source, "template");
    const ordered_json variables = chat(number);
    const std::string text = render(jinja, variables);
    fuzz::require(is_valid_utf8(text), "UTF-8");
    fuzz::require(render(jinja, variables) == text, "the same text twice");
  });
}
