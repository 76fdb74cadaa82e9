#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "heed/base/error.h"
#include "heed/io/files.h"
#include "heed/io/safetensors.h"
#include "heed/models/peft_adapter.h"
#include "heed/models/peft_files.h"
#include "heed/models/peft_modules.h"

namespace heed::models {
namespace {

using nlohmann::ordered_json;

// An adapter of one of their modules.
struct WrittenModule {
  const PeftModule* module;
  Index rank = 0;
  Tensor a, b;
};

class PeftWriter {
 public:
  PeftWriter(const LoraAdapter& adapter, const PeftBase& base)
      : adapter_(adapter),
        base_(base),
        family_(peft_family(base.config)),
        modules_(peft_modules(family_, base.parameters)) {
    for (const PeftModule& module : modules_) {
      if (rank_of(module) > 0) written_.push_back(combined(module));
    }
    for (const nn::NamedTensor& replaced : adapter.replaced) add_whole(replaced);
    check_complete();
  }

  void write(const std::string& folder, const std::string& base_path) const {
    io::create_folder(folder);
    io::write_file_atomically(peft_config_path(folder), config(base_path).dump(2) + '\n');
    std::vector<io::TensorRecord> records;
    const auto add = [&](const std::string& name, const Tensor& value) {
      const auto sizes = value.shape().sizes();
      records.push_back(io::float_record(std::string(peft_prefix) + name,
                                         {sizes.begin(), sizes.end()}, value.values()));
    };
    for (const auto& [module, rank, a, b] : written_) {
      add(module->name + ".lora_A.weight", a);
      add(module->name + ".lora_B.weight", b);
    }
    for (const auto& [name, value] : whole_) add(name, value);
    io::Metadata metadata{{"format", "pt"}};
    if (!adapter_.base.empty()) metadata.emplace(peft_base_entry, adapter_.base);
    io::write_safetensors(peft_tensors_path(folder), records, metadata);
  }

 private:
  const LoraMatrices* matrices_of(const std::string& name) const {
    const auto found = std::ranges::find(adapter_.matrices, name, &LoraMatrices::name);
    return found == adapter_.matrices.end() ? nullptr : &*found;
  }

  // Those of its parts together.
  Index rank_of(const PeftModule& module) const {
    Index rank = 0;
    for (const std::string& name : module.ours) {
      if (const LoraMatrices* lora = matrices_of(name)) rank += lora->up.dim(1);
    }
    return rank;
  }

  WrittenModule combined(const PeftModule& module) const {
    const Index rank = rank_of(module);
    WrittenModule written{&module, rank, Tensor::zeros({rank, module.in_dim}),
                          Tensor::zeros({module.out_dim(), rank})};
    const std::vector<RowPlace> places = row_places(module, base_.config.num_heads);
    Index first = 0;  // column of the part
    for (std::size_t part = 0; part < module.ours.size(); ++part) {
      const LoraMatrices* lora = matrices_of(module.ours[part]);
      if (!lora) continue;
      const Index count = lora->up.dim(1);
      std::ranges::copy(lora->down.values(), written.a.data() + first * module.in_dim);
      for (Index row = 0; row < module.out_dim(); ++row) {
        if (places[row].part != part) continue;
        std::copy_n(lora->up.data() + places[row].row * count, count,
                    written.b.data() + row * rank + first);
      }
      first += count;
    }
    return written;
  }

  void add_whole(const nn::NamedTensor& replaced) {
    const std::string name = tensor_of_parameter(family_, base_.parameters, replaced.name);
    check_as(ErrorKind::model, !name.empty(), "adapter: expected parameters that a ",
             family_.model_type, " model stores as they are, found ", replaced.name);
    whole_.emplace_back(name, replaced.value);
  }

  void check_complete() const {
    std::size_t count = 0;
    for (const WrittenModule& one : written_) {
      for (const std::string& name : one.module->ours) count += matrices_of(name) != nullptr;
    }
    check_as(ErrorKind::model, count == adapter_.matrices.size(),
             "adapter: expected matrices that a ", family_.model_type, " model has, found ",
             adapter_.matrices.size() - count, " others");
  }

  // The shortest end of a module's name, in whole parts, that `fits`.
  template <typename Fits>
  static std::string shortest_end(const std::string& name, Fits&& fits) {
    for (std::size_t dot = name.rfind('.'); dot != name.npos && dot > 0;
         dot = name.rfind('.', dot - 1)) {
      if (fits(name.substr(dot + 1))) return name.substr(dot + 1);
    }
    return name;
  }

  bool is_written(const PeftModule& module) const {
    return std::ranges::count(written_, &module, &WrittenModule::module) > 0;
  }

  // No layer without an adapter has a name like these.
  std::set<std::string> targets() const {
    std::set<std::string> names;
    for (const WrittenModule& one : written_) {
      names.insert(shortest_end(one.module->name, [&](const std::string& end) {
        return std::ranges::all_of(modules_, [&](const PeftModule& module) {
          return is_written(module) || !is_peft_module(module.name, end);
        });
      }));
    }
    return names;
  }

  Index most_frequent_rank() const {
    std::map<Index, Index> counts;
    for (const WrittenModule& one : written_) ++counts[one.rank];
    Index best = 1, most = 0;
    for (const auto& [rank, count] : counts) {
      if (count > most) std::tie(best, most) = std::pair(rank, count);
    }
    return best;
  }

  std::string rank_key(const WrittenModule& written) const {
    return shortest_end(written.module->name, [&](const std::string& end) {
      return std::ranges::all_of(written_, [&](const WrittenModule& other) {
        return other.rank == written.rank || !is_peft_module(other.module->name, end);
      });
    });
  }

  // Whole numbers as such.
  ordered_json alpha_of(Index rank) const {
    const double alpha = double{adapter_.scale} * static_cast<double>(rank);
    if (alpha == std::floor(alpha) && std::abs(alpha) < 1e9) return static_cast<Index>(alpha);
    return alpha;
  }

  ordered_json task_type() const {
    switch (base_.config.kind) {
      case ModelKind::language:
        return "CAUSAL_LM";
      case ModelKind::translation:
        return "SEQ_2_SEQ_LM";
      case ModelKind::classifier:
        return "SEQ_CLS";
      case ModelKind::tagger:
        return "TOKEN_CLS";
      default:
        return nullptr;
    }
  }

  // Names of modules, in the order of the tensors.
  ordered_json saved_modules() const {
    std::vector<std::string> names;
    for (const auto& [tensor, value] : whole_) {
      const std::string module = tensor.substr(0, tensor.rfind('.'));
      if (std::ranges::count(names, module) == 0) names.push_back(module);
    }
    return names.empty() ? ordered_json() : ordered_json(names);
  }

  ordered_json config(const std::string& base_path) const {
    const Index rank = most_frequent_rank();
    ordered_json ranks = ordered_json::object(), alphas = ordered_json::object();
    bool is_transposed = false;
    for (const WrittenModule& one : written_) {
      is_transposed |= one.module->layout == TensorLayout::transposed;
      if (one.rank == rank) continue;
      ranks[rank_key(one)] = one.rank;
      alphas[rank_key(one)] = alpha_of(one.rank);
    }
    return {{"peft_type", "LORA"},
            {"auto_mapping", nullptr},
            {"base_model_name_or_path", base_path},
            {"task_type", task_type()},
            {"inference_mode", true},
            {"r", rank},
            {"lora_alpha", alpha_of(rank)},
            {"lora_dropout", 0.0},
            {"target_modules", targets()},
            {"modules_to_save", saved_modules()},
            {"rank_pattern", ranks},
            {"alpha_pattern", alphas},
            {"bias", "none"},
            {"fan_in_fan_out", is_transposed},
            {"use_rslora", false},
            {"use_dora", false},
            {"init_lora_weights", true}};
  }

  const LoraAdapter& adapter_;
  const PeftBase& base_;
  const Family& family_;
  std::vector<PeftModule> modules_;
  std::vector<WrittenModule> written_;
  std::vector<std::pair<std::string, Tensor>> whole_;  // by the names of their tensors
};

}  // namespace

void save_peft_adapter(const std::string& folder, const LoraAdapter& adapter, const PeftBase& base,
                       const std::string& path) {
  PeftWriter(adapter, base).write(folder, path);
}

}  // namespace heed::models
