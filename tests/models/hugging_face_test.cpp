// Models of Hugging Face against the reference results in every folder of hf/models in the folder
// named by HEED_DATA. Its README says what is in the files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "heed/io/safetensors.h"
#include "heed/models/family_map.h"
#include "heed/models/model_folder.h"
#include "heed/models/model_kinds.h"
#include "heed/ops/matmul.h"
#include "models/hugging_face_case.h"
#include "models/hugging_face_pass.h"
#include "support/temporary_folder.h"

namespace heed::models {
namespace {

// The largest error of each result, in units of the folder's own difference between float and
// double. Up to four are allowed.
class Errors {
 public:
  explicit Errors(json tolerance) : tolerance_(std::move(tolerance)) {}

  double limit(const std::string& result) const {
    return std::max(4 * tolerance_.value(result, 0.0), 2e-6);
  }
  void add(const std::string& result, double error, double limit) {
    double& largest = largest_[result];
    largest = std::max(largest, 4 * error / limit);
    if (!(error <= limit)) largest = std::max(largest, 1e9 * (std::isnan(error) ? 1 : 0));
  }
  void check() const {
    for (const auto& [result, largest] : largest_) {
      testing::Test::RecordProperty(result, std::to_string(largest));
      EXPECT_LE(largest, 4) << result;
    }
  }

 private:
  json tolerance_;
  std::map<std::string, double> largest_;
};

// Packed rows against the same rows of a padded array [B, T, X], or [B, X] without `rows`.
void compare(Errors& errors, const std::string& result, const Tensor& actual,
             const NpyArray& expected, const std::vector<std::size_t>* rows) {
  const auto width = static_cast<std::size_t>(actual.size() / actual.dim(0));
  const auto count = static_cast<std::size_t>(actual.dim(0));
  const double limit = errors.limit(result);
  ASSERT_EQ(count, rows != nullptr ? rows->size() : expected.values.size() / width) << result;
  for (std::size_t row = 0; row < count; ++row) {
    const std::size_t place = rows != nullptr ? (*rows)[row] : row;
    ASSERT_LE((place + 1) * width, expected.values.size()) << result;
    for (std::size_t i = 0; i < width; ++i) {
      const double found = actual.values()[row * width + i];
      errors.add(result, std::abs(found - expected.values[place * width + i]), limit);
    }
  }
}

// [layer, 1, head, query, key] against the weights of a stack's layers.
void compare_attention(Errors& errors, const std::string& result, const Recorder& recorder,
                       const std::string& layers, const std::string& attention,
                       const NpyArray& expected) {
  const auto per_layer = expected.values.size() / static_cast<std::size_t>(expected.shape[0]);
  for (std::int64_t layer = 0; layer < expected.shape[0]; ++layer) {
    const auto& view = recorder.views.at(layers + '.' + std::to_string(layer) + '.' + attention);
    const Tensor& weights = view.weights.at(0);
    ASSERT_EQ(static_cast<std::size_t>(weights.size()), per_layer) << result;
    for (std::size_t i = 0; i < per_layer; ++i) {
      const double wanted = expected.values[static_cast<std::size_t>(layer) * per_layer + i];
      errors.add(result, std::abs(weights.values()[i] - wanted), errors.limit(result));
    }
  }
}

// Does a plain pass of the reference count the padding on the left as positions? Then its results
// are those of another text. (Generation does not count it.)
bool counts_left_padding(const TransformerConfig& config, const HuggingFaceCase& one) {
  return one.name() == "left" && config.family == "gpt2";
}

// OPT's hidden vectors are those after the projection to the embeddings' width.
template <typename Model>
Tensor as_wide_as(Model& model, const Tensor& hidden, const NpyArray& expected) {
  if (hidden.dim(1) == expected.shape.back()) return hidden;
  for (const nn::NamedTensor& parameter : nn::named_parameters(model)) {
    if (parameter.name == "hidden_projection.weight") {
      return ops::matmul(hidden, parameter.value.detach(), {.transpose_b = true});
    }
  }
  return hidden;
}

template <typename Model>
void check_pass(Errors& errors, Model& model, const HuggingFaceCase& one) {
  const NoGrad no_grad;
  const ModelKind kind = Model::kind;
  const bool has_rows = has_text(kind);
  const bool is_translation = kind == ModelKind::translation;
  Recorder recorder;
  auto context = nn::ForwardContext::inference(&recorder);
  const Tensor logits = logits_of(model, one, context);
  const std::vector<std::size_t> rows =
      has_rows ? one.input_rows().rows : std::vector<std::size_t>();
  const std::vector<std::size_t> target_rows =
      is_translation ? one.target_rows().rows : std::vector<std::size_t>();
  if (one.has_array("logits_f64")) {
    const bool is_by_token = has_rows && kind != ModelKind::classifier;
    const auto* places = is_translation ? &target_rows : is_by_token ? &rows : nullptr;
    compare(errors, "logits", logits, one.array("logits_f64"), places);
  }
  const auto compare_hidden = [&](const std::string& result, const std::string& stack,
                                  const std::vector<std::size_t>* places) {
    if (!one.has_array(result)) return;
    const NpyArray expected = one.array(result);
    const Tensor hidden = as_wide_as(model, recorder.results.at(stack + ".final"), expected);
    compare(errors, result, hidden, expected, places);
  };
  const std::string stack = kind == ModelKind::language ? "decoder" : "encoder";
  compare_hidden("last_hidden", stack, has_rows ? &rows : nullptr);
  compare_hidden("encoder_last_hidden", "encoder", &rows);
  compare_hidden("decoder_last_hidden", "decoder", &target_rows);
  const auto compare_weights = [&](const std::string& result, const std::string& layers,
                                   const std::string& attention) {
    if (!one.has_array(result)) return;
    compare_attention(errors, result, recorder, layers, attention, one.array(result));
  };
  compare_weights("attentions", stack, "self_attention");
  compare_weights("encoder_attentions", "encoder", "self_attention");
  compare_weights("decoder_attentions", "decoder", "self_attention");
  compare_weights("cross_attentions", "decoder", "cross_attention");
  if constexpr (Model::kind == ModelKind::encoder) {
    if (one.has_array("sentence_embedding_f64")) {
      auto plain = nn::ForwardContext::inference();
      compare(errors, "sentence_embedding", model.pooled(one.input(), plain),
              one.array("sentence_embedding_f64"), nullptr);
    }
  }
  if (one.has("loss_f64")) {
    auto plain = nn::ForwardContext::inference();
    const double mean = loss_of(model, one, plain).mean();
    errors.add("loss", std::abs(mean - one["loss_f64"].get<double>()), errors.limit("loss"));
  }
}

// The mean loss of a case; leaves its gradient in the parameters.
template <typename Model>
double mean_loss_and_gradient(const Model& model, const HuggingFaceCase& one) {
  auto context = nn::ForwardContext::inference();
  const CountedLoss loss = loss_of(model, one, context);
  const float share = 1 / static_cast<float>(loss.count);
  const Tensor mean = ops::scale(loss.sum, share);
  backward(mean);
  return loss.mean();
}

double norm_of(std::span<const float> values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

// Gradients by the names that the reference gives its parameters.
template <typename Model>
std::map<std::string, Tensor> gradients_by_name(Model& model) {
  std::vector<nn::NamedTensor> gradients;
  for (const nn::NamedTensor& parameter : nn::named_parameters(model)) {
    const Tensor& gradient = parameter.value.gradient();
    gradients.push_back({parameter.name, gradient.is_defined()
                                             ? gradient
                                             : Tensor::zeros(parameter.value.shape())});
  }
  const FamilyMap map(*find_family(model.config().family), model.config());
  std::map<std::string, Tensor> by_name;
  for (const nn::NamedTensor& tensor : map.to_theirs(gradients)) {
    by_name[tensor.name] = tensor.value;
  }
  return by_name;
}

template <typename Model>
void check_gradient(Errors& errors, Model& model, const HuggingFaceCase& one) {
  const json& expected = one["gradient"];
  mean_loss_and_gradient(model, one);
  const std::map<std::string, Tensor> gradients = gradients_by_name(model);
  double squares = 0;
  for (const auto& [name, wanted] : expected["parameter_norms_f64"].items()) {
    if (wanted == 0 && name.ends_with("embed_positions.weight")) continue;  // in no file
    ASSERT_TRUE(gradients.contains(name)) << name;
    const double found = norm_of(gradients.at(name).values()), norm = wanted;
    squares += found * found;
    errors.add("gradient_norms", std::abs(found - norm), errors.limit("grad") * (1 + norm));
  }
  const double norm = expected["global_norm_f64"];
  errors.add("gradient_norm", std::abs(std::sqrt(squares) - norm),
             errors.limit("grad_norm_relative") * norm);
  for (const auto& [name, path] : expected["arrays"].items()) {
    const NpyArray wanted = one.read(path);
    const Tensor& gradient = gradients.at(name);
    ASSERT_EQ(static_cast<std::size_t>(gradient.size()), wanted.values.size()) << name;
    for (std::size_t i = 0; i < wanted.values.size(); ++i) {
      errors.add("gradient", std::abs(gradient.values()[i] - wanted.values[i]),
                 errors.limit("grad"));
    }
  }
}

// The optimizers of the reference, in double.
class Steps {
 public:
  Steps(std::vector<Tensor> parameters, bool is_adam)
      : parameters_(std::move(parameters)), is_adam_(is_adam) {
    for (const Tensor& parameter : parameters_) {
      exact_.emplace_back(parameter.values().begin(), parameter.values().end());
      means_.emplace_back(exact_.back().size(), 0.0);
      squares_.emplace_back(exact_.back().size(), 0.0);
    }
  }

  void step() {
    ++num_steps_;
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      Tensor& parameter = parameters_[p];
      if (!parameter.gradient().is_defined()) continue;
      const Tensor gradient = parameter.gradient();
      for (std::size_t i = 0; i < exact_[p].size(); ++i) {
        move(p, i, gradient.values()[i]);
        parameter.values()[i] = static_cast<float>(exact_[p][i]);
      }
      parameter.clear_gradient();
    }
  }

 private:
  void move(std::size_t p, std::size_t i, double gradient) {
    double& value = exact_[p][i];
    if (!is_adam_) {
      value -= 0.05 * gradient;
      return;
    }
    double& mean = means_[p][i];
    double& square = squares_[p][i];
    mean = 0.9 * mean + 0.1 * gradient;
    square = 0.999 * square + 0.001 * gradient * gradient;
    const double unbiased_mean = mean / (1 - std::pow(0.9, num_steps_));
    const double unbiased_square = square / (1 - std::pow(0.999, num_steps_));
    value -= 0.01 * 0.01 * value;
    value -= 0.01 * unbiased_mean / (std::sqrt(unbiased_square) + 1e-8);
  }

  std::vector<Tensor> parameters_;
  bool is_adam_;
  int num_steps_ = 0;
  std::vector<std::vector<double>> exact_, means_, squares_;
};

// Those that the reference trains: Marian's bias of the logits is none of them.
template <typename Model>
std::vector<Tensor> trained_parameters(Model& model, const json& norms) {
  const FamilyMap map(*find_family(model.config().family), model.config());
  std::vector<Tensor> trained;
  for (const nn::NamedTensor& parameter : nn::named_parameters(model)) {
    if (norms.contains(map.place_of(parameter.name).tensor->name)) {
      trained.push_back(parameter.value);
    }
  }
  return trained;
}

template <typename Model>
void check_training(Errors& errors, const std::string& folder, const HuggingFaceCase& one,
                    const std::string& optimizer) {
  Model model = load_model<Model>(folder);
  const json& norms = one["gradient"]["parameter_norms_f64"];
  Steps steps(trained_parameters(model, norms), optimizer.starts_with("adam"));
  double limit = 0;  // every pass adds its error
  for (const json& expected : one["training_losses_f64"][optimizer]) {
    limit += errors.limit("loss");
    const double loss = mean_loss_and_gradient(model, one);
    errors.add(optimizer, std::abs(loss - expected.get<double>()), limit);
    steps.step();
  }
}

template <typename Model>
void check_folder(Errors& errors, const std::string& folder, const json& cases) {
  Model model = load_model<Model>(folder);
  for (const json& fields : cases) {
    const HuggingFaceCase one(folder, fields);
    SCOPED_TRACE(one.name());
    if (counts_left_padding(model.config(), one)) continue;
    check_pass(errors, model, one);
    if (one.has("gradient")) check_gradient(errors, model, one);
    if (!one.has("training_losses_f64")) continue;
    for (const auto& [optimizer, losses] : one["training_losses_f64"].items()) {
      check_training<Model>(errors, folder, one, optimizer);
    }
  }
}

// The folder with one of the spellings of its configuration as config.json.
void link_folder(const std::filesystem::path& from, const TemporaryFolder& to,
                 const std::string& config) {
  for (const auto& entry : std::filesystem::directory_iterator(from)) {
    const std::string name = entry.path().filename();
    if (name != "config.json") {
      std::filesystem::create_symlink(entry.path(), to.path() + '/' + name);
    }
  }
  std::filesystem::copy_file(from / config, to.path() + "/config.json");
}

class HuggingFace : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam().empty()) GTEST_SKIP() << "HEED_DATA names no folder with hf/models";
  }
  std::filesystem::path folder() const { return hugging_face_folder() / GetParam(); }
  void check_reference(const std::string& config) const {
    if (!std::filesystem::exists(folder() / config)) GTEST_SKIP() << "one spelling only";
    const TemporaryFolder linked;
    link_folder(folder(), linked, config);
    const json expected = read_json(folder() / "expected.json");
    Errors errors(expected["tolerance"]);
    with_model_class(load_config(linked.path()).kind,
                     [&]<typename AnyModel>(std::type_identity<AnyModel>) {
                       check_folder<AnyModel>(errors, linked.path(), expected["cases"]);
                     });
    errors.check();
  }
};

TEST_P(HuggingFace, ComputesAndTrainsAsTheReference) { check_reference("config.json"); }

TEST_P(HuggingFace, ReadsTheNewerSpellingOfTheConfiguration) { check_reference("config.v5.json"); }

void expect_same_parameters(const std::vector<nn::NamedTensor>& a,
                            const std::vector<nn::NamedTensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].name, b[i].name);
    EXPECT_TRUE(
        std::ranges::equal(std::as_bytes(a[i].value.values()), std::as_bytes(b[i].value.values())))
        << a[i].name;
  }
}

TEST_P(HuggingFace, IsWrittenBackTensorByTensor) {
  const TemporaryFolder written;
  const TransformerConfig config = load_config(folder());
  with_model_class(config.kind, [&]<typename AnyModel>(std::type_identity<AnyModel>) {
    const AnyModel model = load_model<AnyModel>(folder());
    save_model(written.path(), model);
    EXPECT_EQ(load_config(written.path()), config);
    expect_same_parameters(parameters(load_model<AnyModel>(written.path())), parameters(model));
  });
  const io::SafetensorsFile file = io::SafetensorsFile::load(written.path() + "/model.safetensors");
  const FamilyMap map(*find_family(config.family), config);
  EXPECT_EQ(file.tensors().size(), map.tensors().size());
  EXPECT_EQ(file.metadata().at("format"), "pt");
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  return info.param.empty() ? "none" : info.param;
}

INSTANTIATE_TEST_SUITE_P(Folders, HuggingFace, testing::ValuesIn(hugging_face_names()), test_name);

}  // namespace
}  // namespace heed::models
