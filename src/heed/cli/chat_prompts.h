// Chats as prompts of a language model, by the chat template of its folder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/text/chat_template.h"

namespace heed::cli {

// Makes prompts of lines: each is a chat of its own.
class ChatPrompts {
 public:
  // `system` is the first message of every chat.
  ChatPrompts(const std::string& folder, std::optional<std::string> system);

  // The prompt of a message of the user.
  std::string of_message(const std::string& message) const;
  // The same of JSON: a message in quotes, a list of messages, or an object with `messages` and
  // other variables of the template. `place` is that of the line, for messages (ErrorKind::data).
  std::string of_json(const std::string& line, const std::string& place) const;

  const text::ChatTemplate& chat_template() const { return template_; }
  const std::optional<std::string>& system() const { return system_; }

 private:
  text::ChatTemplate template_;
  std::optional<std::string> system_;
};

// A chat of several messages: the model reads all of it before each answer.
class Conversation {
 public:
  explicit Conversation(ChatPrompts prompts);

  // The prompt of all that was said and this message.
  std::string prompt(const std::string& message) const;
  void add(const std::string& message, const std::string& answer);
  void reset();  // keeps the message of the system

 private:
  ChatPrompts prompts_;
  std::vector<text::ChatMessage> messages_;
};

}  // namespace heed::cli
