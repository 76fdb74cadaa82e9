#include "heed/cli/chat_prompts.h"

#include <ctime>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/io/strict_json.h"

namespace heed::cli {
namespace {

using nlohmann::ordered_json;

// Keeps the order of fields, which a template may print.
ordered_json parse_chat(const std::string& line, const std::string& place) {
  constexpr int max_depth = 60;
  io::parse_strict_json(line, place, max_depth, ErrorKind::data);
  return ordered_json::parse(line);
}

void check_messages(const ordered_json& messages, const std::string& place) {
  check_as(ErrorKind::data, messages.is_array(), place, ": expected a list of messages, found ",
           messages.type_name());
  for (const ordered_json& message : messages) {
    const bool has_role = message.is_object() && message.contains("role") &&
                          message.at("role").is_string() && message.contains("content");
    if (has_role) continue;
    fail(ErrorKind::data, place, ": expected messages with `role` and `content`, found ",
         message.dump(-1, ' ', true));
  }
}

void prepend_system(ordered_json& messages, const std::string& system) {
  if (!messages.empty() && messages.front().at("role") == "system") return;
  messages.insert(messages.begin(), ordered_json{{"role", "system"}, {"content", system}});
}

}  // namespace

ChatPrompts::ChatPrompts(const std::string& folder, std::optional<std::string> system)
    : template_(text::ChatTemplate::load(folder)), system_(std::move(system)) {}

std::string ChatPrompts::of_message(const std::string& message) const {
  return Conversation(*this).prompt(message);
}

std::string ChatPrompts::of_json(const std::string& line, const std::string& place) const {
  ordered_json chat = parse_chat(line, place);
  if (chat.is_string()) return of_message(chat.get<std::string>());
  if (chat.is_array()) chat = ordered_json{{"messages", std::move(chat)}};
  check_as(ErrorKind::data, chat.is_object() && chat.contains("messages"), place,
           ": expected a message in quotes, a list of messages, or an object with `messages`");
  check_messages(chat.at("messages"), place);
  if (system_) prepend_system(chat.at("messages"), *system_);
  if (!chat.contains("add_generation_prompt")) chat["add_generation_prompt"] = true;
  return template_.render(chat, std::time(nullptr));
}

Conversation::Conversation(ChatPrompts prompts) : prompts_(std::move(prompts)) { reset(); }

std::string Conversation::prompt(const std::string& message) const {
  std::vector<text::ChatMessage> messages = messages_;
  messages.push_back({"user", message});
  return prompts_.chat_template().prompt(messages);
}

void Conversation::add(const std::string& message, const std::string& answer) {
  messages_.push_back({"user", message});
  messages_.push_back({"assistant", answer});
}

void Conversation::reset() {
  messages_.clear();
  if (prompts_.system()) messages_.push_back({"system", *prompts_.system()});
}

}  // namespace heed::cli
