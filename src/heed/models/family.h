// A family of models of Hugging Face: what config.json and model.safetensors of one model_type mean
// here, and how they are written.
//
// A family is two tables: of the fields of its configuration, and of its tensors. Reading and
// writing both follow from them. To add one, write family_x.cpp and add it to family.cpp.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/json_fields.h"
#include "heed/models/transformer_config.h"

namespace heed::models {

// One setting, or some that belong together, from config.json and back.
struct FamilyField {
  std::function<void(const io::JsonFields&, TransformerConfig&)> read;
  std::function<void(nlohmann::ordered_json&, const TransformerConfig&)> write;
};

// How the numbers of our parameters, [rows, columns] or [size], stand in a tensor of theirs.
enum class TensorLayout {
  same,          // one parameter, or the rows of several stacked
  transposed,    // the same, with rows and columns exchanged (GPT-2)
  heads,         // query, key and value of the first head, then of the second ... (GPT-NeoX)
  one_in_front,  // with an axis of 1 before the others
  patches,       // pixels of a patch by channel, row, column; ours are by row, column, channel
};

// A tensor of theirs, and the parameters of ours that it is made of. A {} in the names stands for
// the number of a layer. A row whose parameters the model does not have is left out.
struct FamilyTensor {
  std::string theirs;
  std::vector<std::string> ours;
  TensorLayout layout = TensorLayout::same;
  std::vector<std::string> other_names = {};  // of the same tensor; files may hold it under several
  bool may_be_missing = false;                // for zeros
  // Parameters of ours that a model with this tensor also has, or has not.
  std::string with = {}, without = {};
};
using FamilyTensors = std::vector<FamilyTensor>;

// A class of model, by the name that config.json gives it: the family's network with a head.
struct FamilyClass {
  std::string_view name;
  ModelKind kind;
  void (*set_head)(TransformerConfig&) = nullptr;
  FamilyTensors tensors = {};  // of the head, where classes differ
};

// A part of tensors' names that stands for another.
struct FamilyRename {
  std::string_view from, to;
};

struct Family {
  std::string_view model_type;
  std::string prefix = {};         // of the tensors of the model without its head, such as "model."
  TransformerConfig network = {};  // what all models of the family have
  std::vector<FamilyClass> classes = {};  // the first where config.json names none
  std::vector<FamilyField> fields = {};
  FamilyTensors tensors = {};
  std::vector<FamilyRename> renames = {};      // older or newer names of tensors
  std::vector<std::string_view> ignored = {};  // parts of names that no model needs
};

// The family of a model_type; null if there is none.
const Family* find_family(std::string_view model_type);
std::string family_names();  // "albert, bart, ..."

// The families, each in a file of its own.
namespace families {
std::vector<Family> llama();  // and mistral, qwen2, qwen3, phi3
std::vector<Family> gemma();  // and gemma2
std::vector<Family> gpt2();
std::vector<Family> gpt_neox();
std::vector<Family> phi();
std::vector<Family> opt();
std::vector<Family> bert();  // and roberta, xlm-roberta, camembert, electra
std::vector<Family> distilbert();
std::vector<Family> mpnet();
std::vector<Family> albert();
std::vector<Family> bart();  // and mbart, m2m_100, marian
std::vector<Family> t5();    // and mt5
std::vector<Family> vit();
}  // namespace families

}  // namespace heed::models
