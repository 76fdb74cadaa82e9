// The chat template of a model folder: messages become the text that the model was trained on.
#pragma once

#include <ctime>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heed/text/jinja_template.h"

namespace heed::text {

struct ChatMessage {
  std::string role;  // system, user, assistant
  std::string content;
};

class ChatTemplate {
 public:
  // Looks for chat_template.jinja, then for `chat_template` in tokenizer_config.json, then for
  // chat_templates/*.jinja. Of several templates it takes the one that is called `name`, or
  // "default" or the only one where no name is given. Nothing where the folder has no template;
  // refuses (ErrorKind::model) a name that it does not have.
  static std::optional<ChatTemplate> find(const std::string& folder,
                                          const std::optional<std::string>& name = std::nullopt);
  // The same; refuses (ErrorKind::model) a folder without a template.
  static ChatTemplate load(const std::string& folder,
                           const std::optional<std::string>& name = std::nullopt);

  // The prompt after which the assistant answers. Special tokens, such as that of the beginning,
  // are in the text: it is to be encoded as it is, with nothing added. Refuses (ErrorKind::data)
  // messages that the template does not allow.
  std::string prompt(const std::vector<ChatMessage>& messages) const;

  // All that a template may be given: `messages` in the form of JSON, null or lists as `tools` and
  // `documents`, and any other variable. What is missing gets its usual value.
  std::string render(const nlohmann::ordered_json& variables, std::time_t now) const;

 private:
  ChatTemplate(JinjaTemplate jinja, std::vector<std::pair<std::string, std::string>> tokens)
      : template_(std::move(jinja)), tokens_(std::move(tokens)) {}

  JinjaTemplate template_;
  std::vector<std::pair<std::string, std::string>> tokens_;  // bos_token, eos_token and others
};

}  // namespace heed::text
