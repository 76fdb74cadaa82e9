#include "heed/text/subword_model.h"

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

Model read_without_type(const JsonFields& fields) {
  if (fields.has("merges")) return read<Bpe>(fields);
  if (fields.has("vocab") && fields.json().at("vocab").is_array()) return read<Unigram>(fields);
  if (fields.has("max_input_chars_per_word")) return read<WordPiece>(fields);
  return read<WordLevel>(fields);
}

}  // namespace

std::unique_ptr<SubwordModel> read_subword_model(const JsonFields& fields) {
  return fields.has("type") ? read_component<Model>(fields, kinds) : read_without_type(fields);
}

}  // namespace heed::text
