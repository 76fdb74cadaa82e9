#include "heed/text/chat_template.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace heed::text {
namespace {

using nlohmann::ordered_json;

const std::vector<ChatMessage> chat{{"system", "S"}, {"user", "q"}};
constexpr char turns[] =
    "{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}";

struct Folder {
  TemporaryFolder folder;
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder.file(name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void write_config(const ordered_json& config) const {
    write("tokenizer_config.json", config.dump());
  }
  std::string prompt() const { return ChatTemplate::load(folder.path()).prompt(chat); }
};

TEST(ChatTemplate, IsReadFromItsFileFirst) {
  const Folder folder;
  folder.write("chat_template.jinja", turns);
  folder.write_config({{"chat_template", "other"}, {"bos_token", "<s>"}});
  EXPECT_EQ(folder.prompt(), "<s><system>S<user>q<assistant>");
}

TEST(ChatTemplate, IsReadFromTheTokenizersSettings) {
  const Folder folder;
  folder.write_config({{"chat_template", turns}, {"bos_token", {{"content", "[B]"}}}});
  EXPECT_EQ(folder.prompt(), "[B]<system>S<user>q<assistant>");
}

TEST(ChatTemplate, IsChosenByNameAmongSeveral) {
  const Folder folder;
  folder.write_config({{"chat_template",
                        {{{"name", "tool_use"}, {"template", "tools"}},
                         {{"name", "default"}, {"template", "plain"}}}}});
  folder.write("chat_templates/rag.jinja", "documents");
  EXPECT_EQ(folder.prompt(), "plain");
  EXPECT_EQ(ChatTemplate::load(folder.folder.path(), "tool_use").prompt(chat), "tools");
  EXPECT_EQ(ChatTemplate::load(folder.folder.path(), "rag").prompt(chat), "documents");
  expect_error(
      ErrorKind::model,
      folder.folder.path() + ": expected a chat template called x, found default, rag, tool_use",
      [&] { ChatTemplate::load(folder.folder.path(), "x"); });
}

TEST(ChatTemplate, IsAskedForWhereTheFolderHasNone) {
  const Folder folder;
  EXPECT_FALSE(ChatTemplate::find(folder.folder.path()));
  expect_error(ErrorKind::model,
               folder.folder.path() +
                   ": expected a chat template: chat_template.jinja, `chat_template` in "
                   "tokenizer_config.json, or chat_templates/*.jinja, found none of them",
               [&] { folder.prompt(); });
}

TEST(ChatTemplate, GivesTheUsualValuesOfWhatIsMissing) {
  const Folder folder;
  folder.write("chat_template.jinja",
               "{{ tools }} {{ documents }} {{ add_generation_prompt }} {{ eos_token is defined }} "
               "{{ x }}");
  const auto chat_template = ChatTemplate::load(folder.folder.path());
  EXPECT_EQ(chat_template.render({{"messages", ordered_json::array()}, {"x", 1}}, 0),
            "None None False False 1");
}

TEST(ChatTemplate, NamesTheFileAndTheLineOfAMistake) {
  const Folder folder;
  folder.write("chat_template.jinja", "a\n{% while %}");
  expect_error(
      ErrorKind::model,
      folder.folder.path() + "/chat_template.jinja:2: the statement while is not supported",
      [&] { folder.prompt(); });
}

}  // namespace
}  // namespace heed::text
