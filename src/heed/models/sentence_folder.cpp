#include "heed/models/sentence_folder.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/printable.h"
#include "heed/io/files.h"
#include "heed/io/json_fields.h"
#include "heed/io/strict_json.h"

namespace heed::models {
namespace {

using io::JsonFields;
using nlohmann::ordered_json;

std::string modules_path(const std::string& folder) { return folder + "/modules.json"; }
std::string settings_path(const std::string& folder) {
  return folder + "/sentence_bert_config.json";
}

struct Module {
  std::string type;  // the last part of its name: Pooling
  std::string path;
};

std::vector<Module> read_modules(const std::string& folder) {
  const std::string path = modules_path(folder);
  constexpr int max_depth = 8;
  const nlohmann::json list = io::parse_strict_json(
      io::read_file(path, ErrorKind::model, io::max_config_bytes), path, max_depth);
  // The functions that check fields are those of an object.
  const auto modules = JsonFields::of({{"modules", list}}, path).optional_objects("modules");
  std::vector<Module> all;
  for (const JsonFields& module : modules) {
    const std::string type = module.text("type");
    all.push_back({type.substr(type.rfind('.') + 1), module.text("path")});
  }
  return all;
}

// A name in the same folder.
void check_path(const std::string& folder, const Module& module) {
  const bool is_plain = module.path.find('/') == std::string::npos && module.path != "..";
  check_as(ErrorKind::model, is_plain, modules_path(folder),
           ": path: expected a folder beside it, found ", excerpt(module.path));
}

struct PoolingName {
  std::string_view flag;   // of 1_Pooling/config.json
  std::string_view brief;  // in newer files
  Pooling pooling;
};
constexpr PoolingName poolings[]{{"pooling_mode_cls_token", "cls", Pooling::first},
                                 {"pooling_mode_mean_tokens", "mean", Pooling::mean},
                                 {"pooling_mode_max_tokens", "max", Pooling::max},
                                 {"pooling_mode_lasttoken", "lasttoken", Pooling::last}};
constexpr std::string_view flag_prefix = "pooling_mode_";

Pooling read_pooling(const JsonFields& json) {
  if (json.has("pooling_mode")) {
    const std::string name = json.choice("pooling_mode", {"cls", "mean", "max", "lasttoken"});
    return std::ranges::find(poolings, name, &PoolingName::brief)->pooling;
  }
  std::vector<std::string> flags;
  for (const std::string& name : json.names()) {
    if (name.starts_with(flag_prefix) && json.boolean(name)) flags.push_back(name);
  }
  check_as(ErrorKind::model, flags.size() == 1, json.place("pooling_mode"),
           ": expected one pooling, found ", flags.size());
  const auto found = std::ranges::find(poolings, flags.front(), &PoolingName::flag);
  check_as(ErrorKind::model, found != std::end(poolings), json.place(excerpt(flags.front())),
           ": expected the pooling of the cls, mean, max or last token, found another");
  return found->pooling;
}

void read_pooling_file(const std::string& folder, const Module& module, TransformerConfig& config) {
  const auto json = JsonFields::load(folder + '/' + module.path + "/config.json");
  config.pooling = read_pooling(json);
  check_as(ErrorKind::model, json.boolean_or("include_prompt", true), json.place("include_prompt"),
           ": expected true, found false");
  json.integer_or("word_embedding_dimension", config.model_dim,
                  {.min = config.model_dim, .max = config.model_dim});
}

void read_settings(const std::string& folder, TransformerConfig& config) {
  if (!io::is_there(settings_path(folder), ErrorKind::model)) return;
  const auto json = JsonFields::load(settings_path(folder));
  config.truncate_source = json.integer_or("max_seq_length", 0, {.min = 1, .max = 1 << 24});
  check_as(ErrorKind::model, !json.boolean_or("do_lower_case", false), json.place("do_lower_case"),
           ": expected false, found true");
}

}  // namespace

bool has_sentence_files(const std::string& folder) {
  return io::is_there(modules_path(folder), ErrorKind::model);
}

void read_sentence_files(const std::string& folder, TransformerConfig& config) {
  if (!has_sentence_files(folder)) return;
  const std::vector<Module> modules = read_modules(folder);
  const auto check_order = [&](bool ok, const std::string& found) {
    check_as(ErrorKind::model, ok, modules_path(folder),
             ": expected Transformer, Pooling and perhaps Normalize, found ", excerpt(found));
  };
  check_order(modules.size() >= 2, std::to_string(modules.size()) + " modules");
  check_order(modules[0].type == "Transformer" && modules[0].path.empty(), modules[0].type);
  check_order(modules[1].type == "Pooling", modules[1].type);
  check_path(folder, modules[1]);
  read_pooling_file(folder, modules[1], config);
  config.normalizes = modules.size() > 2;
  if (config.normalizes) check_order(modules[2].type == "Normalize", modules[2].type);
  check_order(modules.size() <= 3, std::to_string(modules.size()) + " modules");
  read_settings(folder, config);
}

SentencePrompts load_sentence_prompts(const std::string& folder) {
  SentencePrompts prompts;
  const std::string path = folder + '/' + SentencePrompts::file_name;
  if (!io::is_there(path, ErrorKind::model)) return prompts;
  prompts.json = io::read_file(path, ErrorKind::model, io::max_config_bytes);
  const auto json = JsonFields::parse(prompts.json, path);
  if (json.has("prompts")) {
    const JsonFields texts = json.object("prompts");
    for (const std::string& name : texts.names()) prompts.by_name[name] = texts.text(name);
  }
  prompts.default_name = json.text_or("default_prompt_name", "");
  const bool is_known =
      prompts.default_name.empty() || prompts.by_name.contains(prompts.default_name);
  check_as(ErrorKind::model, is_known, json.place("default_prompt_name"),
           ": expected one of the prompts, found ", excerpt(prompts.default_name));
  return prompts;
}

void write_sentence_files(const std::string& folder, const TransformerConfig& config) {
  const bool is_plain =
      config.pooling == Pooling::mean && !config.normalizes && config.truncate_source == 0;
  if (is_plain) return;  // as without these files
  ordered_json modules = ordered_json::array();
  const auto add = [&](const char* type, const std::string& path) {
    const std::size_t number = modules.size();
    modules.push_back({{"idx", number},
                       {"name", std::to_string(number)},
                       {"path", path},
                       {"type", std::string("sentence_transformers.models.") + type}});
  };
  add("Transformer", "");
  add("Pooling", "1_Pooling");
  if (config.normalizes) add("Normalize", "2_Normalize");

  ordered_json pooling{{"word_embedding_dimension", config.model_dim}};
  for (const PoolingName& one : poolings)
    pooling[std::string(one.flag)] = one.pooling == config.pooling;
  ordered_json settings{{"max_seq_length", nullptr}, {"do_lower_case", false}};
  if (config.truncate_source > 0) settings["max_seq_length"] = config.truncate_source;

  io::create_folder(folder + "/1_Pooling");
  io::write_file_atomically(folder + "/1_Pooling/config.json", pooling.dump(2) + '\n');
  io::write_file_atomically(settings_path(folder), settings.dump(2) + '\n');
  io::write_file_atomically(modules_path(folder), modules.dump(2) + '\n');
}

}  // namespace heed::models
