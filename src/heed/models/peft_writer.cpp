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

namespace heed::models {
namespace {

using nlohmann::ordered_json;

// An adapter of one of their modules.
struct WrittenModule {
  std::string name;
  const MappedTensor* tensor = nullptr;
  Index rank = 0;
  Tensor a = {}, b = {};
};

class PeftWriter {
 public:
  PeftWriter(const LoraAdapter& adapter, const PeftBase& base)
      : adapter_(adapter), base_(base), tensors_(peft_tensors(base.config)) {
    for (const MappedTensor& tensor : tensors_.tensors()) {
      const auto name = peft_module(tensor);
      if (!name) continue;
      names_.push_back(*name);
      if (const Index rank = rank_of(tensor); rank > 0) {
        written_.push_back(combined(*name, tensor, rank));
      }
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
    for (const WrittenModule& one : written_) {
      add(one.name + ".lora_A.weight", one.a);
      add(one.name + ".lora_B.weight", one.b);
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
  Index rank_of(const MappedTensor& tensor) const {
    Index rank = 0;
    for (const MappedTensor::Part& part : tensor.parts) {
      if (const LoraMatrices* lora = matrices_of(part.name)) rank += lora->up.dim(1);
    }
    return rank;
  }

  // A part has columns of its own in B, which are zero in the rows of the others.
  WrittenModule combined(const std::string& name, const MappedTensor& tensor, Index rank) const {
    const MappedTensor rows = peft_rows(tensor, rank);
    WrittenModule written{name, &tensor, rank, Tensor::zeros({rank, tensor.num_columns}),
                          Tensor::zeros(rows.shape)};
    Index first = 0;  // column of the part
    for (std::size_t part = 0; part < rows.parts.size(); ++part) {
      const LoraMatrices* lora = matrices_of(rows.parts[part].name);
      if (lora == nullptr) continue;
      const Index count = lora->up.dim(1);
      std::ranges::copy(lora->down.values(), written.a.data() + first * tensor.num_columns);
      Tensor wide = Tensor::zeros({rows.parts[part].num_rows, rank});
      for (Index row = 0; row < wide.dim(0); ++row) {
        std::copy_n(lora->up.data() + row * count, count, wide.data() + row * rank + first);
      }
      rows.write(part, wide.values(), written.b.values());
      first += count;
    }
    return written;
  }

  void add_whole(const nn::NamedTensor& replaced) {
    const auto [tensor, part] = tensors_.place_of(replaced.name);
    check_as(ErrorKind::model, tensor->parts.size() == 1, "adapter: expected parameters that a ",
             base_.config.family, " model stores alone, found ", replaced.name);
    Tensor value = Tensor::zeros(tensor->shape);
    tensor->write(part, replaced.value.values(), value.values());
    whole_.emplace_back(tensor->name, value);
  }

  void check_complete() const {
    std::size_t count = 0;
    for (const WrittenModule& one : written_) {
      for (const auto& part : one.tensor->parts) count += matrices_of(part.name) != nullptr;
    }
    check_as(ErrorKind::model, count == adapter_.matrices.size(),
             "adapter: expected matrices that a ", base_.config.family, " model has, found ",
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

  bool is_written(const std::string& name) const {
    return std::ranges::count(written_, name, &WrittenModule::name) > 0;
  }

  // No layer without an adapter has a name like these.
  std::set<std::string> targets() const {
    std::set<std::string> targets;
    for (const WrittenModule& one : written_) {
      targets.insert(shortest_end(one.name, [&](const std::string& end) {
        return std::ranges::all_of(names_, [&](const std::string& name) {
          return is_written(name) || !is_peft_module(name, end);
        });
      }));
    }
    return targets;
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
    return shortest_end(written.name, [&](const std::string& end) {
      return std::ranges::all_of(written_, [&](const WrittenModule& other) {
        return other.rank == written.rank || !is_peft_module(other.name, end);
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
      is_transposed |= one.tensor->layout == TensorLayout::transposed;
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
  FamilyMap tensors_;
  std::vector<std::string> names_;  // of all modules
  std::vector<WrittenModule> written_;
  std::vector<std::pair<std::string, Tensor>> whole_;  // by the names of their tensors
};

}  // namespace

void save_peft_adapter(const std::string& folder, const LoraAdapter& adapter, const PeftBase& base,
                       const std::string& path) {
  PeftWriter(adapter, base).write(folder, path);
}

}  // namespace heed::models
