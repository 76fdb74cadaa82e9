#include "heed/models/peft_adapter.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/printable.h"
#include "heed/io/files.h"
#include "heed/io/json_fields.h"
#include "heed/io/safetensors.h"
#include "heed/models/finite_weights.h"
#include "heed/models/peft_files.h"
#include "heed/models/stored_weights.h"

namespace heed::models {
namespace {

constexpr Index max_rank = 1 << 16;

// What adapter_config.json says about ranks and scales.
class PeftSettings {
 public:
  explicit PeftSettings(const io::JsonFields& json)
      : is_rank_stabilized_(json.boolean_or("use_rslora", false)) {
    check_method(json);
    rank_ = json.integer("r", {.min = 1, .max = max_rank});
    alpha_ = json.number("lora_alpha", alphas);
    read_ranks(json);
    read_alphas(json);
  }

  Index rank_of(const std::string& module) const { return pattern_or(ranks_, module, rank_); }
  float scale_of(const std::string& module) const {
    const auto rank = static_cast<double>(rank_of(module));
    const double divisor = is_rank_stabilized_ ? std::sqrt(rank) : rank;
    return static_cast<float>(pattern_or(alphas_, module, alpha_) / divisor);
  }

 private:
  static constexpr io::NumberRange alphas{.min = -1e9, .max = 1e9};

  template <typename Value>
  using Pattern = std::vector<std::pair<std::string, Value>>;

  template <typename Value>
  static Value pattern_or(const Pattern<Value>& pattern, const std::string& module,
                          Value otherwise) {
    for (const auto& [name, value] : pattern) {
      if (is_peft_module(module, name)) return value;
    }
    return otherwise;
  }

  // Refused are other methods, and extensions of this one, by their names.
  static void check_method(const io::JsonFields& json) {
    json.choice("peft_type", {"LORA"});
    json.choice_or("bias", "none", {"none"});
    for (const char* name : {"use_dora", "use_qalora", "lora_bias"}) {
      check_as(ErrorKind::model, !json.boolean_or(name, false), json.place(name),
               ": expected false, found true, which is not supported");
    }
    for (const char* name : {"layer_replication", "trainable_token_indices", "target_parameters",
                             "alora_invocation_tokens", "arrow_config"}) {
      const bool is_there = json.has(name) && !json.json().at(name).empty();
      check_as(ErrorKind::model, !is_there, json.place(name),
               ": expected null, found a setting that is not supported");
    }
    check_start(json);
  }

  // Some ways to start an adapter change the base model, too.
  static void check_start(const io::JsonFields& json) {
    const char* name = "init_lora_weights";
    if (!json.has(name) || json.json().at(name).is_boolean()) return;
    json.choice(name, {"gaussian", "eva", "orthogonal"});
  }

  static void check_pattern(const io::JsonFields& json, const std::string& name) {
    check_as(ErrorKind::model, name.find_first_of("^$*+?()[]{}|\\") == name.npos,
             json.place(excerpt(name)),
             ": expected the name of a layer, found a regular expression, which is not supported");
  }
  void read_ranks(const io::JsonFields& json) {
    if (!json.has("rank_pattern")) return;
    const io::JsonFields pattern = json.object("rank_pattern");
    for (const std::string& name : pattern.names()) {
      check_pattern(pattern, name);
      ranks_.emplace_back(name, pattern.integer(name, {.min = 1, .max = max_rank}));
    }
  }
  void read_alphas(const io::JsonFields& json) {
    if (!json.has("alpha_pattern")) return;
    const io::JsonFields pattern = json.object("alpha_pattern");
    for (const std::string& name : pattern.names()) {
      check_pattern(pattern, name);
      alphas_.emplace_back(name, pattern.number(name, alphas));
    }
  }

  bool is_rank_stabilized_;
  Index rank_ = 0;
  double alpha_ = 0;
  Pattern<Index> ranks_;
  Pattern<double> alphas_;
};

// "base_model.model.h.0.attn.c_attn.lora_A.weight": a half of an adapter, or a whole tensor.
struct PeftName {
  enum class Part { a, b, whole } part = Part::whole;
  std::string name;  // of the module, or of the tensor
};

void erase_first(std::string& text, std::string_view part) {
  const std::size_t place = text.find(part);
  if (place != text.npos) text.erase(place, part.size());
}

PeftName parse_name(const std::string& stored, const std::string& file) {
  for (const char* other : {"lora_embedding_", "lora_magnitude_vector"}) {
    check_as(ErrorKind::model, stored.find(other) == stored.npos, file, ": expected adapters of ",
             "linear layers, found ", excerpt(stored), ", which is not supported");
  }
  std::string name = stored;
  if (name.starts_with(peft_prefix)) name.erase(0, peft_prefix.size());
  erase_first(name, "modules_to_save.default.");
  erase_first(name, "modules_to_save.");
  for (const auto& [suffix, part] :
       {std::pair{".lora_A", PeftName::Part::a}, std::pair{".lora_B", PeftName::Part::b}}) {
    const std::size_t place = name.rfind(suffix);
    if (place == name.npos) continue;
    const std::string_view rest = std::string_view(name).substr(place + 7);
    check_as(ErrorKind::model, rest == ".weight" || rest == ".default.weight", file,
             ": expected weights of an adapter, found ", excerpt(stored));
    return {part, name.substr(0, place)};
  }
  return {PeftName::Part::whole, name};
}

Tensor tensor_of(const io::SafetensorsFile& file, const io::TensorRecord& record) {
  Tensor tensor = Tensor::from(file.to_floats(record), shape_of(record, file.source()));
  check_finite(tensor.values(), record.name, file.source());
  return tensor;
}

std::span<const std::byte> bytes_of(const Tensor& tensor) { return std::as_bytes(tensor.values()); }

// One adapter of theirs: A [R, I], B [O, R].
struct PeftMatrices {
  const MappedTensor* tensor = nullptr;
  Tensor a = {}, b = {};
};

class PeftReader {
 public:
  PeftReader(const std::string& folder, const PeftBase& base)
      : file_(io::SafetensorsFile::load(peft_tensors_path(folder))),
        settings_(io::JsonFields::load(peft_config_path(folder))),
        base_(base),
        tensors_(peft_tensors(base.config)) {}

  LoraAdapter read() {
    const auto hash = file_.metadata().find(peft_base_entry);
    if (hash != file_.metadata().end()) adapter_.base = hash->second;
    for (const io::TensorRecord& record : file_.tensors()) add(record);
    check_as(ErrorKind::model, !adapters_.empty() || !adapter_.replaced.empty(), file_.source(),
             ": expected tensors of an adapter, found none");
    if (!adapters_.empty()) {
      const float scale = settings_.scale_of(adapters_.begin()->first);
      if (scale != 0) adapter_.scale = scale;
    }
    for (const auto& [module, matrices] : adapters_) add(module, matrices);
    return std::move(adapter_);
  }

 private:
  void add(const io::TensorRecord& record) {
    const PeftName name = parse_name(record.name, file_.source());
    if (name.part == PeftName::Part::whole) return add_whole(record, name.name);
    const MappedTensor& tensor = find(name.name + ".weight", record.name);
    const auto module = peft_module(tensor);
    check_as(ErrorKind::model, module.has_value(), file_.source(),
             ": expected adapters of linear layers, found ", excerpt(record.name));
    PeftMatrices& matrices = adapters_[*module];
    matrices.tensor = &tensor;
    (name.part == PeftName::Part::a ? matrices.a : matrices.b) = tensor_of(file_, record);
  }

  void add_whole(const io::TensorRecord& record, const std::string& name) {
    if (name.find("original_module.") != name.npos) return;  // what a whole one replaces
    const MappedTensor& tensor = find(name, record.name);
    const Tensor values = tensor_of(file_, record);
    check_as(ErrorKind::model, values.shape() == tensor.shape, file_.source(), ": ",
             excerpt(record.name), ": expected the shape ", tensor.shape, ", found ",
             values.shape());
    for (std::size_t part = 0; part < tensor.parts.size(); ++part) {
      const std::string& ours = tensor.parts[part].name;
      const auto parameter = std::ranges::find(base_.parameters, ours, &nn::NamedTensor::name);
      if (parameter == base_.parameters.end()) continue;
      Tensor replaced = Tensor::empty(parameter->value.shape());
      tensor.read(part, bytes_of(values), std::as_writable_bytes(replaced.values()));
      adapter_.replaced.push_back({ours, replaced});
    }
  }

  const MappedTensor& find(const std::string& name, const std::string& stored) const {
    const MappedTensor* tensor = tensors_.find(name);
    check_as(ErrorKind::model, tensor != nullptr, file_.source(), ": expected tensors of a ",
             base_.config.family, " model, found ", excerpt(stored));
    return *tensor;
  }

  void add(const std::string& module, const PeftMatrices& matrices) {
    const auto& [tensor, a, b] = matrices;
    check_as(ErrorKind::model, a.is_defined() && b.is_defined(), file_.source(), ": ", module,
             ": expected lora_A and lora_B, found one of them");
    const Index rank = settings_.rank_of(module);
    const MappedTensor rows = peft_rows(*tensor, rank);
    const Shape a_shape{rank, tensor->num_columns};
    check_as(ErrorKind::model, a.shape() == a_shape && b.shape() == rows.shape, file_.source(),
             ": ", module, ": expected matrices A ", a_shape, " and B ", rows.shape, ", found ",
             a.shape(), " and ", b.shape());
    const float factor = settings_.scale_of(module) / adapter_.scale;
    for (std::size_t part = 0; part < rows.parts.size(); ++part) {
      Tensor up = Tensor::empty({rows.parts[part].num_rows, rank});
      rows.read(part, bytes_of(b), std::as_writable_bytes(up.values()));
      for (float& value : up.values()) value *= factor;
      add_without_zeros(rows.parts[part].name, up, a);
    }
  }

  // Columns of zeros are what the adapters of other parts of the module leave here.
  void add_without_zeros(const std::string& name, const Tensor& up, const Tensor& down) {
    const Index rows = up.dim(0), rank = up.dim(1), in_dim = down.dim(1);
    std::vector<Index> used;
    for (Index i = 0; i < rank; ++i) {
      bool is_zero = true;
      for (Index row = 0; row < rows; ++row) is_zero &= up.data()[row * rank + i] == 0;
      if (!is_zero) used.push_back(i);
    }
    if (used.empty()) return;
    const Index kept = std::ssize(used);
    Tensor less_up = Tensor::empty({rows, kept}), less_down = Tensor::empty({kept, in_dim});
    for (Index i = 0; i < kept; ++i) {
      for (Index row = 0; row < rows; ++row) {
        less_up.data()[row * kept + i] = up.data()[row * rank + used[i]];
      }
      std::copy_n(down.data() + used[i] * in_dim, in_dim, less_down.data() + i * in_dim);
    }
    adapter_.matrices.push_back({name, less_up, less_down});
  }

  io::SafetensorsFile file_;
  PeftSettings settings_;
  const PeftBase& base_;
  FamilyMap tensors_;
  std::map<std::string, PeftMatrices> adapters_;  // by the names of their modules
  LoraAdapter adapter_;
};

}  // namespace

LoraAdapter load_peft_adapter(const std::string& folder, const PeftBase& base) {
  return PeftReader(folder, base).read();
}

LoraAdapter load_any_adapter(const std::string& path, const PeftBase& base) {
  return io::is_folder(path) ? load_peft_adapter(path, base) : load_adapter(path);
}

}  // namespace heed::models
