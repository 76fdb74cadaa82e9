#include "heed/models/generation_config.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/printable.h"
#include "heed/io/files.h"
#include "heed/io/json_fields.h"
#include "heed/text/tokenizer.h"

namespace heed {

template <>
std::span<const Choice<models::EarlyStopping>> choices() {
  using models::EarlyStopping;
  static constexpr std::array table{Choice{"no", EarlyStopping::no},
                                    Choice{"yes", EarlyStopping::yes},
                                    Choice{"never", EarlyStopping::never}};
  return table;
}

}  // namespace heed

namespace heed::models {
namespace {

using io::JsonFields;
using nlohmann::json;

constexpr io::IntegerRange length_range{.min = 0, .max = max_output_length};
constexpr io::IntegerRange token_range{.min = 0, .max = std::numeric_limits<int>::max()};
constexpr io::NumberRange length_penalty_range{.min = -max_length_penalty,
                                               .max = max_length_penalty};
// Bounds what one step of decoding costs.
constexpr std::size_t max_listed_tokens = std::size_t{1} << 20;

std::string path_in(const std::string& folder, const char* name) { return folder + '/' + name; }
std::string generation_path(const std::string& folder) {
  return path_in(folder, "generation_config.json");
}
std::string config_path(const std::string& folder) { return path_in(folder, "config.json"); }

// The config.json of a model that is not Heed's; nothing if it is, or if there is none.
std::optional<JsonFields> foreign_config(const std::string& folder) {
  const std::string path = config_path(folder);
  if (!io::is_there(path, ErrorKind::model)) return std::nullopt;
  JsonFields fields = JsonFields::load(path);
  const json& object = fields.json();
  const auto type = object.find("model_type");
  if (type == object.end() || !type->is_string()) return std::nullopt;
  if (type->get<std::string>().starts_with("heed-")) return std::nullopt;
  return fields;
}

// A setting that does not exist here, and the value at which it changes nothing. A null, false, 0,
// or an empty list never does.
struct Unsupported {
  const char* name;
  double neutral = 0;
};

std::string to_text(const json& value) {
  return excerpt(value.dump(-1, ' ', true, json::error_handler_t::replace));
}

constexpr Unsupported unsupported[]{{"typical_p", 1},
                                    {"epsilon_cutoff"},
                                    {"eta_cutoff"},
                                    {"top_h"},
                                    {"penalty_alpha"},
                                    {"dola_layers"},
                                    {"guidance_scale", 1},
                                    {"encoder_repetition_penalty", 1},
                                    {"exponential_decay_length_penalty"},
                                    {"renormalize_logits"},
                                    {"sequence_bias"},
                                    {"force_words_ids"},
                                    {"constraints"},
                                    {"forced_decoder_ids"},
                                    {"watermarking_config"},
                                    {"stop_strings"},
                                    {"max_time"},
                                    {"token_healing"}};

bool is_neutral(const json& value, double neutral) {
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number()) return value.get<double>() == neutral || value.get<double>() == 0;
  return value.empty();
}

void refuse_unsupported(const JsonFields& fields) {
  for (const auto& [name, neutral] : unsupported) {
    if (!fields.has(name)) continue;
    check_as(ErrorKind::model, is_neutral(fields.json().at(name), neutral), fields.place(name),
             ": expected none, which is all that is supported, found ",
             to_text(fields.json().at(name)));
  }
}

int to_token(const JsonFields& fields, const std::string& name) {
  return static_cast<int>(fields.integer(name, token_range));
}

std::optional<int> optional_token(const JsonFields& fields, const std::string& name) {
  return fields.has(name) ? std::optional(to_token(fields, name)) : std::nullopt;
}

void check_count(const JsonFields& fields, const std::string& name, std::size_t count) {
  check_as(ErrorKind::model, count <= max_listed_tokens, fields.place(name), ": expected at most ",
           max_listed_tokens, " tokens, found ", count);
}

// One id or a list of them.
std::vector<int> tokens_of(const JsonFields& fields, const std::string& name) {
  if (!fields.has(name)) return {};
  if (!fields.json().at(name).is_array()) return {to_token(fields, name)};
  std::vector<int> tokens;
  for (const std::int64_t token : fields.integers(name, token_range)) {
    tokens.push_back(static_cast<int>(token));
  }
  check_count(fields, name, tokens.size());
  return tokens;
}

// Lists of ids. Each is read as a field of its own, so that messages name it.
std::vector<std::vector<int>> token_lists(const JsonFields& fields, const std::string& name) {
  if (!fields.has(name)) return {};
  const json& lists = fields.json().at(name);
  check_as(ErrorKind::model, lists.is_array(), fields.place(name),
           ": expected a list of lists of ids, found ", to_text(lists));
  std::vector<std::vector<int>> all;
  std::size_t count = 0;
  for (const json& list : lists) {
    const JsonFields one = JsonFields::of({{"ids", list}}, fields.place(name));
    all.push_back(tokens_of(one, "ids"));
    check_as(ErrorKind::model, list.is_array() && !all.back().empty(), fields.place(name),
             ": expected lists of at least one id, found ", to_text(list));
    count += all.back().size();
    check_count(fields, name, count);
  }
  return all;
}

EarlyStopping early_stopping_of(const JsonFields& fields) {
  const char* name = "early_stopping";
  if (!fields.has(name)) return EarlyStopping::no;
  if (fields.json().at(name).is_string()) {
    fields.choice(name, {"never"});
    return EarlyStopping::never;
  }
  return fields.boolean(name) ? EarlyStopping::yes : EarlyStopping::no;
}

// An id that ends the text is no bad word alone: nothing could end it.
void erase_ends(std::vector<std::vector<int>>& bad_words, std::span<const int> ends) {
  std::erase_if(bad_words, [&](const std::vector<int>& word) {
    return word.size() == 1 && std::ranges::find(ends, word.front()) != ends.end();
  });
}

TokenRules token_rules_of(const JsonFields& fields) {
  TokenRules rules;
  rules.repetition_penalty = fields.number_or("repetition_penalty", 1, {.min = 1e-3, .max = 1e3});
  rules.no_repeat_ngram = fields.integer_or("no_repeat_ngram_size", 0, length_range);
  rules.encoder_no_repeat_ngram =
      fields.integer_or("encoder_no_repeat_ngram_size", 0, length_range);
  rules.bad_words = token_lists(fields, "bad_words_ids");
  rules.min_length = fields.integer_or("min_length", 0, length_range);
  rules.min_new_tokens = fields.integer_or("min_new_tokens", 0, length_range);
  rules.forced_begin = optional_token(fields, "forced_bos_token_id");
  rules.forced_ends = tokens_of(fields, "forced_eos_token_id");
  rules.suppressed = tokens_of(fields, "suppress_tokens");
  rules.begin_suppressed = tokens_of(fields, "begin_suppress_tokens");
  erase_ends(rules.bad_words, tokens_of(fields, "eos_token_id"));
  return rules;
}

void read_sampling(const JsonFields& fields, GenerationConfig& generation) {
  generation.do_sample = fields.boolean_or("do_sample", false);
  generation.temperature = fields.number_or("temperature", 1, {.min = 0, .max = 1000});
  generation.top_k = fields.integer_or("top_k", generation.top_k, token_range);
  generation.top_p = fields.number_or("top_p", 1, {.min = 0, .max = 1});
  generation.min_p = fields.number_or("min_p", 0, {.min = 0, .max = 1});
}

void read_ids(const JsonFields& fields, GenerationConfig& generation) {
  generation.pad = optional_token(fields, "pad_token_id");
  generation.begin = optional_token(fields, "bos_token_id");
  generation.decoder_start = optional_token(fields, "decoder_start_token_id");
  if (fields.has("eos_token_id")) generation.ends = tokens_of(fields, "eos_token_id");
}

GenerationConfig foreign_generation(const JsonFields& fields) {
  refuse_unsupported(fields);
  GenerationConfig generation{.rules = SearchRules::transformers};
  generation.beam_size = fields.integer_or("num_beams", 1, {.min = 1, .max = max_beam_size});
  generation.length_penalty = fields.number_or("length_penalty", 1, length_penalty_range);
  generation.max_length = fields.integer_or("max_length", 0, length_range);
  generation.max_new_tokens = fields.integer_or("max_new_tokens", 0, length_range);
  generation.early_stopping = early_stopping_of(fields);
  generation.num_groups = fields.integer_or("num_beam_groups", 1, {.min = 1, .max = max_beam_size});
  generation.diversity_penalty = fields.number_or("diversity_penalty", 0, {.min = 0, .max = 1000});
  generation.num_return_sequences =
      fields.integer_or("num_return_sequences", 1, {.min = 1, .max = max_beam_size});
  generation.token_rules = token_rules_of(fields);
  read_sampling(fields, generation);
  read_ids(fields, generation);
  return generation;
}

GenerationConfig own_generation(const JsonFields& fields) {
  GenerationConfig generation;
  generation.beam_size =
      fields.integer_or("num_beams", generation.beam_size, {.min = 1, .max = max_beam_size});
  generation.length_penalty =
      fields.number_or("length_penalty", generation.length_penalty, length_penalty_range);
  generation.max_length = fields.integer_or("max_length", generation.max_length, length_range);
  return generation;
}

std::string to_json(const GenerationConfig& generation) {
  if (!generation.json.empty()) return generation.json;
  nlohmann::ordered_json json{{"num_beams", generation.beam_size},
                              {"length_penalty", generation.length_penalty}};
  if (generation.max_length > 0) json["max_length"] = generation.max_length;
  json["decoder_start_token_id"] = text::own_tokens::end;
  json["eos_token_id"] = text::own_tokens::end;
  json["pad_token_id"] = text::own_tokens::pad;
  return json.dump(2) + '\n';
}

}  // namespace

text::SpecialTokens GenerationConfig::with_ids(text::SpecialTokens tokens) const {
  tokens.pad = pad.value_or(tokens.pad);
  tokens.begin = begin.value_or(tokens.begin);
  tokens.decoder_start = decoder_start.value_or(tokens.decoder_start);
  if (ends) tokens.ends = *ends;
  return tokens;
}

Index GenerationConfig::new_tokens(Index prompt_length) const {
  if (max_new_tokens > 0) return max_new_tokens;
  return max_length > 0 ? std::max<Index>(max_length - prompt_length, 1) : 0;
}

GenerationConfig load_generation_config(const std::string& folder) {
  const std::string path = generation_path(folder);
  const std::optional<JsonFields> config = foreign_config(folder);
  const bool has_file = io::is_there(path, ErrorKind::model);
  if (!config) return has_file ? own_generation(JsonFields::load(path)) : GenerationConfig{};
  if (!has_file) return foreign_generation(*config);
  std::string text = io::read_file(path, ErrorKind::model, io::max_config_bytes);
  GenerationConfig generation = foreign_generation(JsonFields::parse(text, path));
  generation.json = std::move(text);
  return generation;
}

void save_generation_config(const std::string& folder, const GenerationConfig& generation) {
  io::write_file_atomically(generation_path(folder), to_json(generation));
}

}  // namespace heed::models
