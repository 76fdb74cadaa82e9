#include "heed/models/family.h"

#include <algorithm>
#include <iterator>

namespace heed::models {
namespace {

std::vector<Family> make_families() {
  std::vector<Family> all;
  for (auto* make :
       {families::llama, families::gemma, families::gpt2, families::gpt_neox, families::phi,
        families::opt, families::bert, families::distilbert, families::mpnet, families::albert,
        families::bart, families::t5, families::vit}) {
    std::ranges::move(make(), std::back_inserter(all));
  }
  std::ranges::sort(all, {}, &Family::model_type);
  return all;
}

const std::vector<Family>& all_families() {
  static const std::vector<Family> all = make_families();
  return all;
}

}  // namespace

const Family* find_family(std::string_view model_type) {
  const auto found = std::ranges::find(all_families(), model_type, &Family::model_type);
  return found == all_families().end() ? nullptr : &*found;
}

std::string family_names() {
  std::string names;
  for (const Family& family : all_families()) {
    names.append(names.empty() ? "" : ", ").append(family.model_type);
  }
  return names;
}

}  // namespace heed::models
