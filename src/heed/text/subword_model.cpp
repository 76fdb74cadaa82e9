#include "heed/text/subword_model.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "heed/text/bpe.h"
#include "heed/text/component.h"
#include "heed/text/unigram.h"
#include "heed/text/word_level.h"
#include "heed/text/word_piece.h"

namespace heed::text {
namespace {

using io::JsonFields;
using Model = std::unique_ptr<SubwordModel>;

template <typename Kind>
Model read(const JsonFields& fields) {
  return std::make_unique<Kind>(fields);
}

constexpr std::array kinds{
    ComponentKind<Model>{"BPE", read<Bpe>},
    ComponentKind<Model>{"Unigram", read<Unigram>},
    ComponentKind<Model>{"WordLevel", read<WordLevel>},
    ComponentKind<Model>{"WordPiece", read<WordPiece>},
};

}  // namespace

std::string_view subword_model_type(const JsonFields& fields) {
  const auto has_type = [&](const auto& kind) { return fields.text("type") == kind.name; };
  if (fields.has("type")) {
    const auto kind = std::ranges::find_if(kinds, has_type);
    return kind == kinds.end() ? "" : kind->name;
  }
  if (fields.has("merges")) return "BPE";
  if (fields.has("vocab") && fields.json().at("vocab").is_array()) return "Unigram";
  return fields.has("max_input_chars_per_word") ? "WordPiece" : "WordLevel";
}

std::unique_ptr<SubwordModel> read_subword_model(const JsonFields& fields) {
  if (fields.has("type")) return read_component<Model>(fields, kinds);
  const auto kind =
      std::ranges::find(kinds, subword_model_type(fields), &ComponentKind<Model>::name);
  return kind->read(fields);
}

}  // namespace heed::text
