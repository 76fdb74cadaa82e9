#include "heed/infer/sentence_encoder.h"

#include <algorithm>
#include <optional>

#include "heed/base/error.h"
#include "heed/base/printable.h"
#include "heed/infer/line_batches.h"
#include "heed/models/classifier.h"
#include "heed/models/encoder.h"
#include "heed/models/finite_weights.h"
#include "heed/models/masked_model.h"
#include "heed/models/model_folder.h"
#include "heed/models/sentence_folder.h"
#include "heed/models/tagger.h"
#include "heed/models/translation_model.h"
#include "heed/ops/pooling.h"
#include "heed/text/lines.h"

namespace heed::infer {
namespace {

template <typename Model>
Tensor pooled(const Model& model, const models::PackedIds& input, const LineOptions& options) {
  auto context = nn::ForwardContext::inference(nullptr, options.hook);
  if constexpr (requires { model.pooled(input, context); }) {
    return model.pooled(input, context);
  } else {
    return ops::mean_rows(model.encode(input, context));
  }
}

void check_finite(const Tensor& vectors, const LineOptions& options) {
  const std::optional<Index> place = models::first_not_finite(vectors.values());
  if (!place) return;
  fail(ErrorKind::model, "line ", options.first_line + *place / vectors.dim(1),
       ": expected a finite vector from the model, found ", vectors.values()[*place], " in it");
}

template <typename Model>
SentenceEncoder load_encoder(const std::string& folder, std::optional<WeightFormat> weights) {
  auto loaded =
      models::load_model_folder<Model>(folder, {.for_inference = true, .weights = weights});
  return {std::move(loaded.model), std::move(loaded.tokenizer)};
}

}  // namespace

SentenceEncoder SentenceEncoder::load(const std::string& folder,
                                      std::optional<WeightFormat> weights) {
  const models::ModelKind kind = models::load_config(folder).kind;
  switch (kind) {
    case models::ModelKind::classifier:
      return load_encoder<models::Classifier>(folder, weights);
    case models::ModelKind::encoder: {
      auto encoder = load_encoder<models::Encoder>(folder, weights);
      models::SentencePrompts prompts = models::load_sentence_prompts(folder);
      encoder.prompts_ = std::move(prompts.by_name);
      if (!prompts.default_name.empty()) encoder.use_prompt(prompts.default_name);
      return encoder;
    }
    case models::ModelKind::masked:
      return load_encoder<models::MaskedModel>(folder, weights);
    case models::ModelKind::tagger:
      return load_encoder<models::Tagger>(folder, weights);
    case models::ModelKind::translation:
      return load_encoder<models::TranslationModel>(folder, weights);
    case models::ModelKind::language:
    case models::ModelKind::image_classifier:
      break;
  }
  fail(ErrorKind::model, folder, ": expected a model with an encoder, found ", name_of(kind));
}

SentenceEncoder::SentenceEncoder(Model model, text::Tokenizer tokenizer)
    : model_(std::make_shared<const Model>(std::move(model))), tokenizer_(std::move(tokenizer)) {}

const models::TransformerConfig& SentenceEncoder::config() const {
  return std::visit(
      [](const auto& model) -> const auto& { return model.config(); }, *model_);
}

void SentenceEncoder::use_prompt(const std::string& name) {
  const auto prompt = prompts_.find(name);
  if (prompt == prompts_.end()) {
    std::string names;
    for (const auto& one : prompts_) names.append(names.empty() ? "" : ", ").append(one.first);
    fail(ErrorKind::usage, "`prompt_name`: expected one of the model's prompts, which are ",
         names.empty() ? "none" : excerpt(names), ", found ", excerpt(name));
  }
  prompt_ = prompt->second;
}

Index SentenceEncoder::dim() const { return config().model_dim; }

std::vector<float> SentenceEncoder::encode(std::string_view line) const {
  const std::string text(line);
  const Tensor vector = encode(std::span(&text, 1));
  return {vector.values().begin(), vector.values().end()};
}

Tensor SentenceEncoder::encode(std::span<const std::string> lines,
                               const LineOptions& options) const {
  std::vector<std::string> texts(lines.begin(), lines.end());
  for (std::string& text : texts) {
    if (!text::is_blank(text)) text.insert(0, prompt_);
  }
  const auto encoded = encode_lines(texts, tokenizer_, config(), options);
  Tensor vectors = Tensor::empty({std::ssize(lines), dim()});
  over_batches(encoded, tokenizer_.sequence(), options.batch_tokens,
               [&](Index first, const models::PackedIds& input) {
                 const Tensor some = std::visit(
                     [&](const auto& model) { return pooled(model, input, options); }, *model_);
                 std::ranges::copy(some.values(), vectors.data() + first * dim());
               });
  check_finite(vectors, options);
  return vectors;
}

}  // namespace heed::infer
