#include "heed/text/chat_template.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/io/files.h"
#include "heed/io/json_fields.h"

namespace heed::text {
namespace {

using nlohmann::ordered_json;

constexpr std::uint64_t max_template_bytes = std::uint64_t{1} << 20;
constexpr std::size_t max_templates = 100;
constexpr char default_name[] = "default";

// Of one template: its text, and where it is for messages.
struct Source {
  std::string text;
  std::string place;
};
using Sources = std::map<std::string, Source>;

void read_template_file(Sources& sources, const std::string& name, const std::string& path) {
  if (!io::is_file(path, ErrorKind::model)) return;
  sources[name] = {io::read_file(path, ErrorKind::model, max_template_bytes), path};
}

// A text, or a list of texts with names.
void read_config(Sources& sources, const io::JsonFields& config) {
  if (!config.has("chat_template")) return;
  if (!config.json().at("chat_template").is_array()) {
    sources[default_name] = {config.text("chat_template"), config.place("chat_template")};
    return;
  }
  for (const io::JsonFields& one : config.optional_objects("chat_template")) {
    sources[one.text("name")] = {one.text("template"), one.place("template")};
  }
}

void read_template_folder(Sources& sources, const std::string& folder) {
  if (!io::is_folder(folder, ErrorKind::model)) return;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".jinja") continue;
    check_as(ErrorKind::model, sources.size() < max_templates, folder, ": expected at most ",
             max_templates, " templates");
    read_template_file(sources, entry.path().stem().string(), entry.path().string());
  }
  check_as(ErrorKind::model, !error, folder, ": expected templates, found none: ", error.message());
}

Sources read_sources(const std::string& folder, const io::JsonFields& config) {
  Sources sources;
  read_template_file(sources, default_name, folder + "/chat_template.jinja");
  // A file wins over the same template in tokenizer_config.json.
  if (sources.empty()) read_config(sources, config);
  read_template_folder(sources, folder + "/chat_templates");
  return sources;
}

io::JsonFields read_tokenizer_config(const std::string& folder) {
  const std::string path = folder + "/tokenizer_config.json";
  return io::is_file(path, ErrorKind::model) ? io::JsonFields::load(path)
                                             : io::JsonFields::parse("{}", path);
}

std::string names_of(const Sources& sources) {
  std::string names;
  for (const auto& [name, source] : sources) names += (names.empty() ? "" : ", ") + name;
  return names;
}

const Source& choose(const Sources& sources, const std::string& folder,
                     const std::optional<std::string>& name) {
  if (!name && sources.size() == 1) return sources.begin()->second;
  const auto found = sources.find(name.value_or(default_name));
  check_as(ErrorKind::model, found != sources.end(), folder, ": expected a chat template called ",
           name.value_or(default_name), ", found ", names_of(sources));
  return found->second;
}

// "<s>", or {"content": "<s>"} with other settings.
std::optional<std::string> special_token(const io::JsonFields& config, const std::string& name) {
  if (!config.has(name)) return std::nullopt;
  return config.json().at(name).is_object() ? config.object(name).text("content")
                                            : config.text(name);
}

}  // namespace

std::optional<ChatTemplate> ChatTemplate::find(const std::string& folder,
                                               const std::optional<std::string>& name) {
  const io::JsonFields config = read_tokenizer_config(folder);
  const Sources sources = read_sources(folder, config);
  if (sources.empty()) return std::nullopt;
  const Source& source = choose(sources, folder, name);
  std::vector<std::pair<std::string, std::string>> tokens;
  for (const char* kind : {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token",
                           "cls_token", "mask_token"}) {
    if (const auto token = special_token(config, kind)) tokens.emplace_back(kind, *token);
  }
  return ChatTemplate(JinjaTemplate::parse(source.text, source.place), std::move(tokens));
}

ChatTemplate ChatTemplate::load(const std::string& folder, const std::optional<std::string>& name) {
  std::optional<ChatTemplate> found = find(folder, name);
  check_as(ErrorKind::model, found.has_value(), folder,
           ": expected a chat template: chat_template.jinja, `chat_template` in "
           "tokenizer_config.json, or chat_templates/*.jinja, found none of them");
  return std::move(*found);
}

std::string ChatTemplate::prompt(const std::vector<ChatMessage>& messages) const {
  ordered_json list = ordered_json::array();
  for (const ChatMessage& message : messages) {
    list.push_back({{"role", message.role}, {"content", message.content}});
  }
  return render({{"messages", std::move(list)}, {"add_generation_prompt", true}},
                std::time(nullptr));
}

std::string ChatTemplate::render(const ordered_json& variables, std::time_t now) const {
  ordered_json all = {{"tools", nullptr}, {"documents", nullptr}, {"add_generation_prompt", false}};
  for (const auto& [name, token] : tokens_) all[name] = token;
  all.update(variables);
  return template_.render(all, now);
}

}  // namespace heed::text
