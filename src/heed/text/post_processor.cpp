#include "heed/text/post_processor.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/printable.h"
#include "heed/text/byte_alphabet.h"
#include "heed/text/code_points.h"
#include "heed/text/unicode_classes.h"
#include "heed/text/vocabulary.h"

namespace heed::text {
namespace {

using io::JsonFields;
using Kind = TemplatePart::Kind;

constexpr io::IntegerRange token_ids{.min = 0, .max = Vocabulary::max_ids - 1};

// --- Reading templates

SpecialToken read_special_token(const JsonFields& fields) {
  SpecialToken special{.ids = {}, .tokens = fields.texts("tokens")};
  for (const std::int64_t id : fields.integers("ids", token_ids)) {
    special.ids.push_back(static_cast<int>(id));
  }
  check_as(ErrorKind::model, special.ids.size() == special.tokens.size(), fields.place("ids"),
           ": expected as many as tokens, ", special.tokens.size(), ", found ", special.ids.size());
  return special;
}

int type_id_of(const JsonFields& fields) {
  return static_cast<int>(fields.integer("type_id", {.min = 0, .max = 1 << 16}));
}

TemplatePart read_part(const JsonFields& part, const JsonFields& special_tokens) {
  if (part.has("Sequence")) {
    const JsonFields sequence = part.object("Sequence");
    const bool is_first = sequence.choice("id", {"A", "B"}) == "A";
    return {is_first ? Kind::first : Kind::second, type_id_of(sequence)};
  }
  const JsonFields special = part.object("SpecialToken");
  const std::string name = special.text("id");
  check_as(ErrorKind::model, special_tokens.has(name), special.place("id"),
           ": expected a name in special_tokens, found ", excerpt(name));
  return {Kind::special, type_id_of(special), read_special_token(special_tokens.object(name))};
}

Template read_template(const JsonFields& fields, const std::string& name) {
  Template parts;
  for (const JsonFields& part : fields.optional_objects(name)) {
    parts.push_back(read_part(part, fields.object("special_tokens")));
  }
  const bool may_have_second = name == "pair";
  const bool has_second = std::ranges::count(parts, Kind::second, &TemplatePart::kind) > 0;
  check_as(ErrorKind::model, may_have_second || !has_second, fields.place(name),
           ": expected the sequence A alone, found B");
  return parts;
}

bool is_token_and_id(const nlohmann::json& value) {
  if (!value.is_array() || value.size() != 2 || !value[0].is_string()) return false;
  if (!value[1].is_number_integer()) return false;
  const auto id = value[1].get<std::int64_t>();
  return id >= token_ids.min && id <= token_ids.max;
}

// ["[SEP]", 102]
SpecialToken read_token_and_id(const JsonFields& fields, const std::string& name) {
  check_as(ErrorKind::model, fields.has(name) && is_token_and_id(fields.json().at(name)),
           fields.place(name), ": expected a list of a token and its id");
  const nlohmann::json& pair = fields.json().at(name);
  return {{pair[1].get<int>()}, {pair[0].get<std::string>()}};
}

// --- Trimming offsets

bool is_space_character(char32_t c) { return c == space_in_byte_alphabet || is_white_space(c); }

std::uint32_t count_spaces(const std::u32string& characters, bool at_end) {
  const auto is_other = [](char32_t c) { return !is_space_character(c); };
  const auto count =
      at_end ? std::find_if(characters.rbegin(), characters.rend(), is_other) - characters.rbegin()
             : std::ranges::find_if(characters, is_other) - characters.begin();
  return static_cast<std::uint32_t>(count);
}

// A single space before the first word is the one that was put there, and covers nothing.
void trim(Offsets& offsets, const std::string& token, bool is_first, bool has_space_before) {
  const std::u32string characters = to_code_points(token);
  std::uint32_t leading = count_spaces(characters, /*at_end=*/false);
  const std::uint32_t trailing = count_spaces(characters, /*at_end=*/true);
  if (leading == 1 && has_space_before && (is_first || offsets.begin == 0)) leading = 0;
  offsets.begin = std::min(offsets.begin + leading, std::max(offsets.end, offsets.begin));
  if (trailing > 0 && offsets.end >= trailing) {
    offsets.end = std::max(offsets.end - trailing, offsets.begin);
  }
}

void add_special(Encoding& to, const TemplatePart& part) {
  for (std::size_t i = 0; i < part.special.ids.size(); ++i) {
    to.push_back({.id = part.special.ids[i],
                  .token = part.special.tokens[i],
                  .offsets = {},
                  .type_id = part.type_id,
                  .special = 1});
  }
}

void add_text(Encoding& to, const Encoding& text, int type_id) {
  const std::size_t begin = to.size();
  to.append(text);
  std::fill(to.type_ids.begin() + static_cast<std::ptrdiff_t>(begin), to.type_ids.end(), type_id);
}

// --- One template for both

// The special tokens before the first text, between the texts, and after the last one.
struct TemplateSections {
  std::vector<int> before, between, after;
  int between_type = 0;
};

// Nothing for a template that has not all `num_texts` texts once, in their order.
std::optional<TemplateSections> sections_of(const Template& parts, int num_texts) {
  std::array<std::vector<int>, 3> sections;
  std::array<int, 3> types{};
  std::size_t num_seen = 0;
  for (const TemplatePart& part : parts) {
    if (part.kind == Kind::special) {
      std::vector<int>& section = sections.at(num_seen);
      section.insert(section.end(), part.special.ids.begin(), part.special.ids.end());
      types.at(num_seen) = part.type_id;
      continue;
    }
    const bool is_next = part.kind == (num_seen == 0 ? Kind::first : Kind::second);
    if (!is_next || ++num_seen > static_cast<std::size_t>(num_texts)) return std::nullopt;
  }
  if (num_seen != static_cast<std::size_t>(num_texts)) return std::nullopt;
  if (num_texts == 1) return TemplateSections{sections[0], {}, sections[1], 0};
  return TemplateSections{sections[0], sections[1], sections[2], types[1]};
}

int type_of(const Template& parts, Kind kind) {
  const auto part = std::ranges::find(parts, kind, &TemplatePart::kind);
  return part == parts.end() ? 0 : part->type_id;
}

}  // namespace

SequenceTemplate PostProcessor::sequence() const {
  SequenceTemplate sequence;
  if (!templates_) return sequence;
  const auto single = sections_of(templates_->single, 1), pair = sections_of(templates_->pair, 2);
  sequence.between.reset();
  if (single) {
    sequence.prefix = single->before;
    sequence.suffix = single->after;
  }
  if (single && pair && pair->before == single->before && pair->after == single->after) {
    sequence.between = pair->between;
    sequence.first_type = type_of(templates_->pair, Kind::first);
    sequence.between_type = pair->between_type;
    // Where nothing parts the texts, nobody can tell where the second one begins.
    const Kind second = pair->between.empty() ? Kind::first : Kind::second;
    sequence.second_type = type_of(templates_->pair, second);
  }
  return sequence;
}

void PostProcessor::read(const JsonFields& fields) {
  const std::string type = fields.choice(
      "type",
      {"BertProcessing", "ByteLevel", "RobertaProcessing", "Sequence", "TemplateProcessing"});
  if (type == "Sequence") {
    for (const JsonFields& step : fields.optional_objects("processors")) read(step);
    return;
  }
  const bool has_offsets = type == "ByteLevel" || type == "RobertaProcessing";
  if (has_offsets && fields.boolean_or("trim_offsets", true)) {
    trims_.push_back(fields.boolean_or("add_prefix_space", true));
  }
  if (type == "TemplateProcessing") {
    return set_templates({read_template(fields, "single"), read_template(fields, "pair")}, fields);
  }
  if (type == "ByteLevel") return;
  const TemplatePart first{Kind::first, 0}, cls{Kind::special, 0, read_token_and_id(fields, "cls")};
  const SpecialToken sep = read_token_and_id(fields, "sep");
  const auto sep_of = [&](int type_id) { return TemplatePart{Kind::special, type_id, sep}; };
  if (type == "BertProcessing") {
    set_templates({{cls, first, sep_of(0)}, {cls, first, sep_of(0), {Kind::second, 1}, sep_of(1)}},
                  fields);
  } else {
    set_templates(
        {{cls, first, sep_of(0)}, {cls, first, sep_of(0), sep_of(0), {Kind::second, 0}, sep_of(0)}},
        fields);
  }
}

void PostProcessor::set_templates(Templates templates, const JsonFields& fields) {
  check_as(ErrorKind::model, !templates_, fields.place("type"),
           ": expected one template in a sequence, found another one");
  templates_ = std::move(templates);
}

std::size_t PostProcessor::num_added(bool is_pair) const {
  std::size_t count = 0;
  if (!templates_) return count;
  for (const TemplatePart& part : is_pair ? templates_->pair : templates_->single) {
    count += part.special.ids.size();
  }
  return count;
}

void PostProcessor::trim_offsets(Encoding& text) const {
  for (const bool has_space_before : trims_) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      trim(text.offsets[i], text.tokens[i], i == 0, has_space_before);
    }
  }
}

Encoding PostProcessor::process(Encoding text, std::optional<Encoding> second,
                                bool with_special) const {
  trim_offsets(text);
  if (second) trim_offsets(*second);
  static const Templates plain{{{Kind::first, 0}}, {{Kind::first, 0}, {Kind::second, 1}}};
  const Templates& templates = templates_ ? *templates_ : plain;
  Encoding all;
  for (const TemplatePart& part : second ? templates.pair : templates.single) {
    if (part.kind == Kind::special) {
      if (with_special) add_special(all, part);
    } else {
      add_text(all, part.kind == Kind::first ? text : *second, part.type_id);
    }
  }
  return all;
}

}  // namespace heed::text
